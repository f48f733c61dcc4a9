package main

import (
	"context"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	applyv1 "github.com/openshift/client-go/operator/applyconfigurations/operator/v1"
	"github.com/openshift/library-go/pkg/controller/factory"
	"github.com/openshift/library-go/pkg/operator/csi/csiconfigobservercontroller"
	"github.com/openshift/library-go/pkg/operator/loglevel"
	"github.com/openshift/library-go/pkg/operator/management"
	"github.com/openshift/library-go/pkg/operator/managementstatecontroller"
	"github.com/openshift/library-go/pkg/operator/staticresourcecontroller"
	"github.com/openshift/library-go/pkg/operator/status"
	"github.com/openshift/library-go/pkg/operator/v1helpers"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const driverOperator = "aws-ebs-csi-driver-operator"

// startStorageOperator plays cluster-storage-operator on AWS: it installs the operator of the driver in both clusters,
// and reports the status of the driver as its own.
func startStorageOperator(ctx context.Context, c *clusters, folder string) error {
	configuration, err := c.configure(storageConfiguration)
	if err != nil {
		return err
	}
	client := configuration.client
	inManagement, err := readAssets(folder, managementProfile, driverOperator)
	if err != nil {
		return err
	}
	inGuest, err := readAssets(folder, guestProfile, driverOperator)
	if err != nil {
		return err
	}
	deployment, err := c.deployment("AWSEBSCSIDriverOperatorDeployment", inManagement, client)
	if err != nil {
		return err
	}
	controller, err := deployment.WithConditions(
		operatorv1.OperatorStatusTypeProgressing, operatorv1.OperatorStatusTypeDegraded).ToController()
	if err != nil {
		return err
	}
	management.SetOperatorNotRemovable()
	versions := status.NewVersionGetter()
	versions.SetVersion("operator", operatorVersion())
	c.run(ctx, configuration,
		staticresourcecontroller.NewStaticResourceController("AWSEBSCSIDriverOperatorMgmtStaticController",
			inManagement.get, inManagement.except("Deployment"), c.management.holder(), client, c.management.recorder,
		).AddKubeInformers(c.management.informers),
		staticresourcecontroller.NewStaticResourceController("AWSEBSCSIDriverOperatorGuestStaticController",
			inGuest.get, inGuest.names, c.guest.holder(), client, c.guest.recorder,
		).AddKubeInformers(c.guest.informers),
		controller,
		c.driverStatus("AWSEBSCSIDriverOperatorCR", client),
		csiconfigobservercontroller.NewCSIConfigObserverController(
			"ConfigObserver", client, c.configInformers, c.guest.recorder),
		c.clusterOperator("storage", client, versions,
			configv1.ObjectReference{Resource: "namespaces", Name: driversIn},
			configv1.ObjectReference{Group: operatorv1.GroupName, Resource: "storages", Name: "cluster"}),
		loglevel.NewClusterOperatorLoggingController(client, c.guest.recorder),
		managementstatecontroller.NewOperatorManagementStateController("storage", client, c.guest.recorder),
	)
	return nil
}

// driverStatus returns a controller that creates the configuration of the driver's operator if it is missing, and copies
// the conditions of its status.
func (c *clusters) driverStatus(prefix string, client v1helpers.OperatorClient) runner {
	sync := func(ctx context.Context, _ factory.SyncContext) error {
		managed, err := isManaged(client)
		if err != nil || !managed {
			return err
		}
		driver, err := c.driver(ctx)
		if err != nil {
			return err
		}
		return client.ApplyOperatorStatus(ctx, prefix, applyv1.OperatorStatus().WithConditions(
			union(prefix, operatorv1.OperatorStatusTypeAvailable, operatorv1.ConditionTrue, operatorv1.ConditionFalse, driver),
			union(prefix, operatorv1.OperatorStatusTypeProgressing, operatorv1.ConditionFalse, operatorv1.ConditionTrue, driver),
			union(prefix, operatorv1.OperatorStatusTypeDegraded, operatorv1.ConditionFalse, operatorv1.ConditionFalse, driver),
		))
	}
	drivers := c.operatorInformers.Operator().V1().ClusterCSIDrivers().Informer()
	return factory.New().WithInformers(client.Informer(), drivers).WithSync(sync).WithSyncDegradedOnError(client).
		ResyncEvery(time.Minute).ToController("AWSEBSCSIDriverOperator", c.guest.recorder)
}

// driver returns the configuration of the driver's operator.
func (c *clusters) driver(ctx context.Context) (*operatorv1.ClusterCSIDriver, error) {
	drivers := c.operators.OperatorV1().ClusterCSIDrivers()
	live, err := drivers.Get(ctx, driverName, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return live, err
	}
	return drivers.Create(ctx, &operatorv1.ClusterCSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: driverName},
		Spec: operatorv1.ClusterCSIDriverSpec{OperatorSpec: operatorv1.OperatorSpec{
			ManagementState:  operatorv1.Managed,
			LogLevel:         operatorv1.Normal,
			OperatorLogLevel: operatorv1.Normal,
		}},
	}, metav1.CreateOptions{})
}

// union returns the union of the driver's conditions of a type; another status as long as there are none.
func union(
	prefix, kind string, usual, without operatorv1.ConditionStatus, driver *operatorv1.ClusterCSIDriver,
) *applyv1.OperatorConditionApplyConfiguration {
	it := status.UnionCondition(kind, usual, nil, driver.Status.Conditions...)
	if it.Status == operatorv1.ConditionUnknown {
		it.Status, it.Reason, it.Message = without, "WaitForOperator", "Waiting for the operator of the driver to report status"
	}
	return applyv1.OperatorCondition().
		WithType(prefix + kind).WithStatus(it.Status).WithReason(it.Reason).WithMessage(it.Message)
}
