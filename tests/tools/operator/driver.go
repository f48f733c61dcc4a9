package main

import (
	"context"

	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csicontrollerset"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivercontrollerservicecontroller"
	"github.com/openshift/library-go/pkg/operator/csi/csidrivernodeservicecontroller"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
)

const (
	driverComponent = "aws-ebs-csi-driver"
	trustedCA       = "aws-ebs-csi-driver-trusted-ca-bundle"
)

// apart are the kinds that have controllers of their own.
var apart = []string{"Deployment", "DaemonSet", "StorageClass", "ServiceMonitor", "VolumeSnapshotClass"}

// startDriverOperator plays aws-ebs-csi-driver-operator: it runs the controller of the driver in the management cluster
// and everything else in the guest, with library-go's set of controllers for CSI drivers.
func startDriverOperator(ctx context.Context, c *clusters, folder string) error {
	configuration, err := c.configure(driverConfiguration)
	if err != nil {
		return err
	}
	inManagement, err := readAssets(folder, managementProfile, driverComponent)
	if err != nil {
		return err
	}
	inGuest, err := readAssets(folder, guestProfile, driverComponent)
	if err != nil {
		return err
	}
	ofManagement, err := c.driverController(configuration, inManagement)
	if err != nil {
		return err
	}
	ofGuest, err := c.driverNodes(configuration, inGuest)
	if err != nil {
		return err
	}
	// The CRD of this kind comes from another operator.
	snapshots := staticresourcecontroller.NewStaticResourceController("AWSEBSVolumeSnapshotController",
		inGuest.get, inGuest.of("VolumeSnapshotClass"), c.guest.holder(), configuration.client, c.guest.recorder,
	).WithIgnoreNotFoundOnCreate()
	c.run(ctx, configuration, ofManagement, ofGuest, snapshots)
	return nil
}

// driverController returns the controllers for the management cluster.
func (c *clusters) driverController(configuration *configuration, of *assets) (*csicontrollerset.CSIControllerSet, error) {
	deployment, err := of.one("Deployment")
	if err != nil {
		return nil, err
	}
	informers := c.management.informers.InformersFor(c.namespace)
	configMaps, secrets := informers.Core().V1().ConfigMaps(), informers.Core().V1().Secrets()
	hash := csidrivercontrollerservicecontroller.WithSecretHashAnnotationHook
	set := csicontrollerset.NewCSIControllerSet(configuration.client, c.guest.recorder).
		WithLogLevelController().
		WithManagementStateController("AWSEBSCSIDriver", false).
		WithStaticResourcesController("AWSEBSDriverControlPlaneStaticResourcesController",
			c.management.kube, c.management.dynamic, c.management.informers, of.get, of.except(apart...)).
		WithCSIConfigObserverController("AWSEBSDriverCSIConfigObserverController", c.configInformers).
		WithCSIDriverControllerService("AWSEBSDriverControllerServiceController", of.get, deployment,
			c.management.kube, informers, c.configInformers,
			[]factory.Informer{configMaps.Informer(), secrets.Informer(), c.hostedControlPlanes.Informer()},
			c.onNodesOfTheHostedControlPlane,
			csidrivercontrollerservicecontroller.WithCABundleDeploymentHook(c.namespace, trustedCA, configMaps),
			hash(c.namespace, "ebs-cloud-credentials", secrets),
			hash(c.namespace, "aws-ebs-csi-driver-controller-metrics-serving-cert", secrets),
		)
	for _, monitor := range of.of("ServiceMonitor") {
		set = set.WithServiceMonitorController(
			"AWSEBSDriverServiceMonitorController", c.management.dynamic, of.get, monitor)
	}
	return set, nil
}

// driverNodes returns the controllers for the guest.
func (c *clusters) driverNodes(configuration *configuration, of *assets) (*csicontrollerset.CSIControllerSet, error) {
	daemonSet, err := of.one("DaemonSet")
	if err != nil {
		return nil, err
	}
	informers := c.guest.informers.InformersFor(driversIn)
	configMaps := informers.Core().V1().ConfigMaps()
	return csicontrollerset.NewCSIControllerSet(configuration.client, c.guest.recorder).
		WithStaticResourcesController("AWSEBSDriverGuestStaticResourcesController",
			c.guest.kube, c.guest.dynamic, c.guest.informers, of.get, of.except(apart...)).
		WithCSIDriverNodeService("AWSEBSDriverNodeServiceController", of.get, daemonSet, c.guest.kube, informers,
			[]factory.Informer{configMaps.Informer()},
			csidrivernodeservicecontroller.WithCABundleDaemonSetHook(driversIn, trustedCA, configMaps)).
		WithStorageClassController("AWSEBSDriverStorageClassController", of.get, of.of("StorageClass"),
			c.guest.kube, c.guest.informers.InformersFor(""), c.operatorInformers), nil
}
