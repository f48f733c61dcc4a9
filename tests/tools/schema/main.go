// Command schema writes what transship knows about Kubernetes' own kinds: their scope, and for every field its type,
// whether it is required, and how a list of it merges. It reads the OpenAPI documents of the pinned release, whose
// folder is its only argument, and writes to standard output. `make schema` calls it; src/object/schema.rs reads the
// result and documents the format.
package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type schema struct {
	Ref        string            `json:"$ref"`
	AllOf      []schema          `json:"allOf"`
	OneOf      []schema          `json:"oneOf"`
	Type       string            `json:"type"`
	Format     string            `json:"format"`
	Properties map[string]schema `json:"properties"`
	Additional *schema           `json:"additionalProperties"`
	Items      *schema           `json:"items"`
	Required   []string          `json:"required"`
	Strategy   string            `json:"x-kubernetes-patch-strategy"`
	MergeKey   string            `json:"x-kubernetes-patch-merge-key"`
	ListType   string            `json:"x-kubernetes-list-type"`
	ListKeys   []string          `json:"x-kubernetes-list-map-keys"`
	Kinds      []kind            `json:"x-kubernetes-group-version-kind"`
}

type kind struct{ Group, Version, Kind string }

type operation struct {
	Kind *kind `json:"x-kubernetes-group-version-kind"`
}

type document struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: schema VERSION FOLDER"))
	}
	documents, err := filepath.Glob(filepath.Join(os.Args[2], "*_openapi.json"))
	fail(err)
	schemas, namespaced := map[string]schema{}, map[kind]bool{}
	for _, path := range documents {
		text, err := os.ReadFile(path)
		fail(err)
		var doc document
		fail(json.Unmarshal(text, &doc))
		for name, s := range doc.Components.Schemas {
			schemas[name] = s
		}
		for path, methods := range doc.Paths {
			learnScope(path, methods, namespaced)
		}
	}
	write(os.Args[1], schemas, namespaced)
}

// learnScope notes every kind that can be created, and whether that happens in a namespace.
func learnScope(path string, methods map[string]json.RawMessage, namespaced map[kind]bool) {
	raw, ok := methods["post"]
	if !ok || strings.Contains(path, "{name}") {
		return
	}
	var op operation
	fail(json.Unmarshal(raw, &op))
	if op.Kind != nil {
		namespaced[*op.Kind] = strings.Contains(path, "/namespaces/{namespace}/")
	}
}

func write(version string, schemas map[string]schema, namespaced map[kind]bool) {
	w := writer{schemas: schemas, numbers: map[string]int{}}
	var kinds []string
	roots := map[kind]string{}
	for name, s := range schemas {
		for _, k := range s.Kinds {
			if _, ok := namespaced[k]; ok {
				roots[k] = name
			}
		}
	}
	for _, k := range slices.SortedFunc(keys(roots), func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	}) {
		scope := "C"
		if namespaced[k] {
			scope = "N"
		}
		apiVersion := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
		kinds = append(kinds, fmt.Sprintf("%s %s %s %d", apiVersion, k.Kind, scope, w.number(roots[k])))
	}
	for i := 0; i < len(w.order); i++ { // Describing a type may number further ones.
		w.lines = append(w.lines, w.describe(w.order[i]))
	}
	fmt.Printf("kubernetes %s\n%s\n\n%s\n", version, strings.Join(kinds, "\n"), strings.Join(w.lines, "\n"))
}

type writer struct {
	schemas map[string]schema
	numbers map[string]int
	order   []string
	lines   []string
}

func (w *writer) number(name string) int {
	n, ok := w.numbers[name]
	if !ok {
		n = len(w.order)
		w.numbers[name] = n
		w.order = append(w.order, name)
	}
	return n
}

func (w *writer) describe(name string) string {
	s := w.schemas[name]
	var fields []string
	for _, field := range slices.Sorted(keys(s.Properties)) {
		mark := ""
		if slices.Contains(s.Required, field) {
			mark = "!"
		}
		fields = append(fields, field+mark+"="+w.code(s.Properties[field]))
	}
	return strings.Join(fields, " ")
}

// code is the type of a field, in the letters that src/object/schema.rs explains.
func (w *writer) code(s schema) string {
	switch {
	case len(s.AllOf) == 1:
		inner := s.AllOf[0]
		inner.Strategy = s.Strategy
		return w.code(inner)
	case s.Ref != "":
		return mapStrategy(s.Strategy) + w.reference(strings.TrimPrefix(s.Ref, "#/components/schemas/"))
	case s.Format == "int-or-string":
		return "q"
	case len(s.OneOf) > 0:
		return "u"
	case s.Type == "array":
		return "[" + listStrategy(s) + "|" + w.code(*s.Items)
	case s.Type == "object" && s.Additional != nil:
		return mapStrategy(s.Strategy) + "{" + w.code(*s.Additional)
	}
	letters := map[string]string{"string": "s", "integer": "i", "number": "n", "boolean": "b"}
	if letter, ok := letters[s.Type]; ok {
		return letter
	}
	return "x"
}

func (w *writer) reference(name string) string {
	s := w.schemas[name]
	if len(s.Properties) > 0 {
		return fmt.Sprintf("@%d", w.number(name))
	}
	return w.code(s)
}

func mapStrategy(strategy string) string {
	switch {
	case strings.Contains(strategy, "replace"):
		return "^"
	case strings.Contains(strategy, "retainKeys"):
		return "+"
	}
	return ""
}

func listStrategy(s schema) string {
	var out []string
	if strings.Contains(s.Strategy, "merge") {
		out = append(out, "m:"+s.MergeKey)
	}
	if strings.Contains(s.Strategy, "retainKeys") {
		out = append(out, "r")
	}
	switch s.ListType {
	case "map":
		out = append(out, "k:"+strings.Join(s.ListKeys, ","))
	case "set":
		out = append(out, "t")
	}
	return strings.Join(out, ";")
}

func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}
