package main

import (
	"bytes"
	"encoding/json"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// readDocuments returns the documents of a file as a list in JSON, read as kubectl and the cluster-version-operator
// read them. Empty documents are left out. Numbers keep the digits that Kubernetes passes on.
func readDocuments(fields [][]byte) ([]byte, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(fields[0]), 4096)
	documents := []interface{}{}
	for {
		extension := runtime.RawExtension{}
		err := decoder.Decode(&extension)
		if err == io.EOF {
			return json.Marshal(documents)
		}
		if err != nil {
			return nil, err
		}
		raw := bytes.TrimSpace(extension.Raw)
		if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
			continue
		}
		document, err := decode(raw)
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// decode returns the value of a JSON text with the digits of its numbers, or an error if Kubernetes cannot decode it
// to an object.
func decode(raw []byte) (interface{}, error) {
	var checked interface{}
	if err := utiljson.Unmarshal(raw, &checked); err != nil {
		return nil, err
	}
	var document interface{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	err := decoder.Decode(&document)
	return document, err
}

// writeYAML returns a JSON text as YAML.
func writeYAML(fields [][]byte) ([]byte, error) {
	return sigsyaml.JSONToYAML(fields[0])
}
