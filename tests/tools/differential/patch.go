package main

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
)

// jsonPatch applies a JSON patch (RFC 6902), as kubectl patch does.
func jsonPatch(fields [][]byte) ([]byte, error) {
	patch, err := jsonpatch.DecodePatch(fields[1])
	if err != nil {
		return nil, err
	}
	return patch.Apply(fields[0])
}

// mergePatch applies a JSON merge patch (RFC 7386), as kubectl patch does.
func mergePatch(fields [][]byte) ([]byte, error) {
	return jsonpatch.MergePatch(fields[0], fields[1])
}

// strategicMerge applies a strategic merge patch to an object of a built-in kind, as kubectl patch does.
func strategicMerge(fields [][]byte) ([]byte, error) {
	var identity struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := json.Unmarshal(fields[0], &identity); err != nil {
		return nil, err
	}
	version, err := schema.ParseGroupVersion(identity.APIVersion)
	if err != nil {
		return nil, err
	}
	object, err := scheme.Scheme.New(version.WithKind(identity.Kind))
	if err != nil {
		return nil, fmt.Errorf("no built-in kind: %w", err)
	}
	return strategicpatch.StrategicMergePatch(fields[0], fields[1], object)
}
