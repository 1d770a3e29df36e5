package envtest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func newWidget(name string, size int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "tests.example.com/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"namespace": "default", "name": name},
		"spec":       map[string]any{"size": size},
	}}
}
