package main

import (
	"context"
	"errors"
	"os"
	"time"

	operatorv1 "github.com/openshift/api/operator/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned"
	configinformers "github.com/openshift/client-go/config/informers/externalversions"
	operatorclient "github.com/openshift/client-go/operator/clientset/versioned"
	operatorinformers "github.com/openshift/client-go/operator/informers/externalversions"
	"github.com/openshift/library-go/pkg/config/client"
	"github.com/openshift/library-go/pkg/controller/controllercmd"
	"github.com/openshift/library-go/pkg/operator/configobserver/featuregates"
	"github.com/openshift/library-go/pkg/operator/events"
	"github.com/openshift/library-go/pkg/operator/resource/resourceapply"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

const (
	resync         = 20 * time.Minute
	driverName     = "ebs.csi.aws.com"
	driversIn      = "openshift-cluster-csi-drivers"
	operatorsIn    = "openshift-cluster-storage-operator"
	patience       = time.Minute
	missingVersion = "0.0.1-snapshot"
)

// operatorVersion is the version of the release, as every OpenShift operator gets it.
func operatorVersion() string { return os.Getenv("OPERATOR_IMAGE_VERSION") }

// cluster has the clients of one cluster.
type cluster struct {
	kube      kubernetes.Interface
	dynamic   dynamic.Interface
	informers v1helpers.KubeInformersForNamespaces
	recorder  events.Recorder
}

// clusters has the clients of both clusters.
type clusters struct {
	// namespace is that of the hosted control plane.
	namespace         string
	management, guest cluster

	guestConfig       *rest.Config
	apiExtensions     apiextensions.Interface
	config            configclient.Interface
	configInformers   configinformers.SharedInformerFactory
	operators         operatorclient.Interface
	operatorInformers operatorinformers.SharedInformerFactory

	hostedControlPlanes informers.GenericInformer
	inManagement        dynamicinformer.DynamicSharedInformerFactory
}

// connect creates the clients. Events about the guest go to the guest.
func connect(
	ctx context.Context, controllerContext *controllercmd.ControllerContext, guestKubeconfig string, o operator,
) (*clusters, error) {
	guestConfig, err := client.GetKubeConfigOrInClusterConfig(guestKubeconfig, nil)
	if err != nil {
		return nil, err
	}
	managementConfig := withoutThrottling(controllerContext.KubeConfig, o.name)
	guestConfig = withoutThrottling(guestConfig, o.name)
	namespace := controllerContext.OperatorNamespace
	c := &clusters{
		namespace:     namespace,
		guestConfig:   guestConfig,
		apiExtensions: apiextensions.NewForConfigOrDie(guestConfig),
		config:        configclient.NewForConfigOrDie(guestConfig),
		operators:     operatorclient.NewForConfigOrDie(guestConfig),
	}
	c.management = newCluster(managementConfig, namespace)
	c.guest = newCluster(guestConfig, "", operatorsIn, driversIn, "openshift-config-managed")
	c.management.recorder = controllerContext.EventRecorder
	// It names the pod's controller, if the pod's name is known, and the namespace of the events if not.
	about, _ := events.GetControllerReferenceForCurrentPod(ctx, c.management.kube, namespace, nil)
	about.Namespace = o.guestNamespace
	events := events.NewKubeRecorder(c.guest.kube.CoreV1().Events(o.guestNamespace), o.name, about, clock.RealClock{})
	c.guest.recorder = events
	c.configInformers = configinformers.NewSharedInformerFactory(c.config, resync)
	c.operatorInformers = operatorinformers.NewSharedInformerFactory(c.operators, resync)
	c.inManagement = dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.management.dynamic, resync, namespace, nil)
	c.hostedControlPlanes = c.inManagement.ForResource(schema.GroupVersionResource{
		Group: "hypershift.openshift.io", Version: "v1beta1", Resource: "hostedcontrolplanes",
	})
	return c, nil
}

// withoutThrottling returns a configuration that sends requests as fast as it can: a test need not spare the API server.
func withoutThrottling(config *rest.Config, userAgent string) *rest.Config {
	config = rest.AddUserAgent(rest.CopyConfig(config), userAgent)
	config.QPS = -1
	return config
}

func newCluster(config *rest.Config, namespaces ...string) cluster {
	kube := kubernetes.NewForConfigOrDie(config)
	return cluster{
		kube:      kube,
		dynamic:   dynamic.NewForConfigOrDie(config),
		informers: v1helpers.NewKubeInformersForNamespaces(kube, namespaces...),
	}
}

// holder returns the clients as the static resource controller takes them.
func (c cluster) holder() *resourceapply.ClientHolder {
	return resourceapply.NewKubeClientHolder(c.kube).WithDynamicClient(c.dynamic)
}

// waitForFeatureGates waits until FeatureGate/cluster has the gates of the operator's version.
func (c *clusters) waitForFeatureGates(ctx context.Context) error {
	gates := featuregates.NewFeatureGateAccess(operatorVersion(), missingVersion,
		c.configInformers.Config().V1().ClusterVersions(), c.configInformers.Config().V1().FeatureGates(), c.guest.recorder)
	go gates.Run(ctx)
	c.configInformers.Start(ctx.Done())
	select {
	case <-gates.InitialFeatureGatesObserved():
		return nil
	case <-time.After(patience):
		return errors.New("FeatureGate/cluster does not have the feature gates of " + operatorVersion())
	}
}

// runner is a controller, or a set of them.
type runner interface {
	Run(ctx context.Context, workers int)
}

// run starts the informers, and the controllers that use them.
func (c *clusters) run(ctx context.Context, configuration *configuration, runners ...runner) {
	configuration.informers.Start(ctx.Done())
	c.configInformers.Start(ctx.Done())
	c.operatorInformers.Start(ctx.Done())
	c.inManagement.Start(ctx.Done())
	c.management.informers.Start(ctx.Done())
	c.guest.informers.Start(ctx.Done())
	for _, it := range runners {
		go it.Run(ctx, 1)
	}
}

// isManaged returns whether the administrator lets the operator manage its operands.
func isManaged(client v1helpers.OperatorClient) (bool, error) {
	spec, _, _, err := client.GetOperatorState()
	if err != nil {
		return false, err
	}
	return spec.ManagementState == operatorv1.Managed, nil
}
