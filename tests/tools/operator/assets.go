package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Folders of `transship render --output`.
const (
	managementProfile = "hypershift-mc"
	guestProfile      = "hypershift-guest"
)

// assets are the rendered objects of one component in one cluster.
type assets struct {
	// names are those of the files, in the order in which transship applies the objects, with bindings after their roles.
	names   []string
	texts   map[string][]byte
	objects map[string]*unstructured.Unstructured
}

// readAssets reads the objects of a component. Secrets are left out: others issue them.
func readAssets(folder, profile, component string) (*assets, error) {
	it := &assets{texts: map[string][]byte{}, objects: map[string]*unstructured.Unstructured{}}
	index, err := os.ReadFile(filepath.Join(folder, profile, "index.txt"))
	if err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(index)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || !strings.HasPrefix(fields[1], component+"/") {
			continue
		}
		if err := it.add(folder, profile, fields[1]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(it.names, func(a, b string) int { return it.rank(a) - it.rank(b) })
	return it, nil
}

func (a *assets) add(folder, profile, name string) error {
	text, err := os.ReadFile(filepath.Join(folder, profile, name))
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if object.GetKind() != "Secret" {
		a.names = append(a.names, name)
		a.texts[name], a.objects[name] = text, object
	}
	return nil
}

// rank is higher for objects that refer to others.
func (a *assets) rank(name string) int {
	if strings.HasSuffix(a.objects[name].GetKind(), "Binding") {
		return 1
	}
	return 0
}

// get returns the text of an object.
func (a *assets) get(name string) ([]byte, error) {
	if text, known := a.texts[name]; known {
		return text, nil
	}
	return nil, fmt.Errorf("no asset %s", name)
}

// of returns the objects of some kinds.
func (a *assets) of(kinds ...string) []string { return a.filter(kinds, true) }

// except returns the objects of all other kinds.
func (a *assets) except(kinds ...string) []string { return a.filter(kinds, false) }

func (a *assets) filter(kinds []string, wanted bool) []string {
	var names []string
	for _, name := range a.names {
		if slices.Contains(kinds, a.objects[name].GetKind()) == wanted {
			names = append(names, name)
		}
	}
	return names
}

// one returns the only object of a kind.
func (a *assets) one(kind string) (string, error) {
	names := a.of(kind)
	if len(names) != 1 {
		return "", fmt.Errorf("one %s is needed, not %d", kind, len(names))
	}
	return names[0], nil
}
