package world

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Sample is one object of a sample file, as text and as plain maps.
type Sample struct {
	Name   string
	Text   []byte
	Object *unstructured.Unstructured
}

// Samples reads every object of testdata/samples.yaml and manifests/samples.
func Samples(t testing.TB) []Sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(), "manifests", "samples", "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(files)
	files = append([]string{filepath.Join("..", "testdata", "samples.yaml")}, files...)
	var samples []Sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range strings.Split("\n"+string(text), "\n---") {
			var object map[string]any
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if object == nil {
				continue
			}
			found := &unstructured.Unstructured{Object: object}
			name := strings.Join([]string{filepath.Base(filepath.Dir(file)), found.GetKind(), found.GetName()}, "/")
			samples = append(samples, Sample{Name: name, Text: []byte(document), Object: found})
		}
	}
	if len(samples) == 0 {
		t.Fatal("no samples found")
	}
	return samples
}
