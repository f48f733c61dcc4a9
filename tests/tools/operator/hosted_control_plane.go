package main

import (
	"fmt"

	operatorv1 "github.com/openshift/api/operator/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// onNodesOfTheHostedControlPlane gives pods the node selector of the only HostedControlPlane in the namespace.
func (c *clusters) onNodesOfTheHostedControlPlane(_ *operatorv1.OperatorSpec, deployment *appsv1.Deployment) error {
	all, err := c.hostedControlPlanes.Lister().ByNamespace(c.namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	if len(all) != 1 {
		return fmt.Errorf("one HostedControlPlane is needed in %s, not %d", c.namespace, len(all))
	}
	object, isObject := all[0].(*unstructured.Unstructured)
	if !isObject {
		return fmt.Errorf("the HostedControlPlane is a %T", all[0])
	}
	selector, _, err := unstructured.NestedStringMap(object.Object, "spec", "nodeSelector")
	if err != nil {
		return err
	}
	deployment.Spec.Template.Spec.NodeSelector = selector
	return nil
}
