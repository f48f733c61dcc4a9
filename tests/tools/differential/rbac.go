package main

import (
	"encoding/json"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// rbacCovers returns the rules of the second list that the rules of the first do not grant, as the API server finds
// them before it lets a user create a Role. Each grants one verb on one resource, object or URL.
func rbacCovers(fields [][]byte) ([]byte, error) {
	var lists [2][]rbacv1.PolicyRule
	for index := range lists {
		if err := json.Unmarshal(fields[index], &lists[index]); err != nil {
			return nil, err
		}
	}
	_, uncovered := validation.Covers(lists[0], lists[1])
	return json.Marshal(uncovered)
}
