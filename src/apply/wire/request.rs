//! The path of an object, and the requests for it, in kube's vocabulary.

use http::header::ACCEPT;
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde_json::Value;

use crate::apply::decide::url_segment::escape;
use crate::apply::wire::error::RequestError;

/// A request that can be sent more than once.
pub(crate) type ApiRequest = http::Request<Vec<u8>>;

/// The path of all objects of a resource: in one namespace, or in the whole cluster.
#[derive(Clone, Debug)]
pub(crate) struct CollectionPath(Request);

/// The path of one object. It consists of a collection and a name, so no request can go to an empty path.
#[derive(Clone, Debug)]
pub(crate) struct ObjectPath {
    collection: Request,
    /// The name, escaped for a URL.
    name: String,
}

impl CollectionPath {
    pub(crate) fn new(url_path: String) -> Self {
        Self(Request::new(url_path))
    }

    /// Returns the path of an object of the collection.
    pub(crate) fn object(self, name: &str) -> ObjectPath {
        ObjectPath { collection: self.0, name: escape(name) }
    }

    pub(crate) fn list(&self, params: &ListParams) -> Result<ApiRequest, RequestError> {
        Ok(self.0.list(params)?)
    }

    /// Lists names and metadata only.
    pub(crate) fn list_metadata(&self, params: &ListParams) -> Result<ApiRequest, RequestError> {
        Ok(self.0.list_metadata(params)?)
    }
}

impl ObjectPath {
    pub(crate) fn get(&self) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.get(&self.name, &GetParams::default())?)
    }

    /// Gets the metadata only.
    pub(crate) fn get_metadata(&self) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.get_metadata(&self.name, &GetParams::default())?)
    }

    pub(crate) fn create(&self, params: &PostParams, object: &Value) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.create(params, object.to_string().into_bytes())?)
    }

    /// Creates an object and rejects unknown fields. kube's `PostParams` has no field validation.
    pub(crate) fn create_strict(
        &self,
        params: &PostParams,
        object: &Value,
    ) -> Result<ApiRequest, RequestError> {
        with_query(self.create(params, object)?, "fieldValidation=Strict")
    }

    pub(crate) fn replace(&self, params: &PostParams, object: &Value) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.replace(&self.name, params, object.to_string().into_bytes())?)
    }

    pub(crate) fn patch(
        &self,
        params: &PatchParams,
        patch: &Patch<&Value>,
    ) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.patch(&self.name, params, patch)?)
    }

    pub(crate) fn patch_status(
        &self,
        params: &PatchParams,
        patch: &Patch<&Value>,
    ) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.patch_subresource("status", &self.name, params, patch)?)
    }

    pub(crate) fn delete(&self, params: &DeleteParams) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.delete(&self.name, params)?)
    }
}

/// Builds a GET request for a path that belongs to no object, such as discovery.
pub(crate) fn get_path(path: &str, accept: &'static str) -> Result<ApiRequest, RequestError> {
    let request = http::Request::get(path).header(ACCEPT, accept).body(Vec::new());
    request.map_err(|error| RequestError::InvalidRequest(error.to_string()))
}

/// Adds a query parameter to a request.
pub(crate) fn with_query(mut request: ApiRequest, parameter: &str) -> Result<ApiRequest, RequestError> {
    let uri = request.uri();
    let separator = match uri.query() {
        None => "?",
        Some("") => "",
        Some(_) => "&",
    };
    let changed = format!("{uri}{separator}{parameter}").parse();
    *request.uri_mut() =
        changed.map_err(|error: http::uri::InvalidUri| RequestError::InvalidRequest(error.to_string()))?;
    Ok(request)
}

#[cfg(test)]
mod tests {
    use kube::api::{DeleteParams, PostParams};
    use serde_json::json;

    use super::{CollectionPath, with_query};

    fn path(name: &str) -> super::ObjectPath {
        CollectionPath::new("/api/v1/namespaces/ns/configmaps".to_owned()).object(name)
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(path("a/b ü").get().unwrap().uri(), "/api/v1/namespaces/ns/configmaps/a%2Fb%20%C3%BC");
        assert!(path("").get().is_err(), "a list is not a get");
    }

    #[test]
    fn query_parameters_are_appended() {
        let get = with_query(path("a").get().unwrap(), "x=1").unwrap();
        assert_eq!(get.uri(), "/api/v1/namespaces/ns/configmaps/a?x=1");
        let delete = with_query(path("a").delete(&DeleteParams::default()).unwrap(), "x=1").unwrap();
        assert_eq!(delete.uri(), "/api/v1/namespaces/ns/configmaps/a?x=1");
        let params = PostParams { field_manager: Some("m".to_owned()), ..PostParams::default() };
        let create = path("a").create_strict(&params, &json!({})).unwrap();
        // kube starts the query with an ampersand.
        let query = create.uri().query().unwrap();
        assert_eq!(query.trim_start_matches('&'), "fieldManager=m&fieldValidation=Strict");
    }
}
