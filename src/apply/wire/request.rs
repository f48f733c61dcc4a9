//! The path of an object, and the requests for it, in kube's vocabulary.

use std::fmt::Write;

use http::header::{ACCEPT, CONTENT_TYPE};
use kube::api::{DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams};
use kube::core::Request;
use serde_json::Value;

use crate::apply::decide::url_segment::escape;
use crate::apply::wire::error::RequestError;

/// The content type of server-side apply.
const APPLY_PATCH: &str = "application/apply-patch+yaml";

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

    /// Returns the URL path of a subresource.
    pub(crate) fn subresource(&self, name: &str) -> Result<String, RequestError> {
        Ok(format!("{}/{name}", self.get()?.uri().path()))
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
        Ok(as_ascii(self.collection.patch(&self.name, params, patch)?))
    }

    pub(crate) fn patch_status(
        &self,
        params: &PatchParams,
        patch: &Patch<&Value>,
    ) -> Result<ApiRequest, RequestError> {
        Ok(as_ascii(self.collection.patch_subresource("status", &self.name, params, patch)?))
    }

    pub(crate) fn delete(&self, params: &DeleteParams) -> Result<ApiRequest, RequestError> {
        Ok(self.collection.delete(&self.name, params)?)
    }
}

/// Escapes the characters of a server-side apply patch that are not printable ASCII. kube sends JSON, and the API server
/// reads it as YAML. A YAML reader folds or rejects some characters that JSON allows in a text, such as U+0085 and U+007F.
/// Outside of texts, JSON has only ASCII characters, so each of them is in a text.
fn as_ascii(request: ApiRequest) -> ApiRequest {
    let is_apply = request.headers().get(CONTENT_TYPE).is_some_and(|content| content == APPLY_PATCH);
    let is_printable = |byte: &u8| byte.is_ascii() && *byte != 0x7f;
    if !is_apply || request.body().iter().all(is_printable) {
        return request;
    }
    request.map(|body| {
        let mut escaped = String::with_capacity(body.len());
        for char in String::from_utf8_lossy(&body).chars() {
            match u32::from(char) {
                0..=0x7e => escaped.push(char),
                code @ 0x7f..=0xffff => _ = write!(escaped, "\\u{code:04x}"),
                // JSON would need a surrogate pair, which YAML does not have.
                code => _ = write!(escaped, "\\U{code:08x}"),
            }
        }
        escaped.into_bytes()
    })
}

/// Builds a GET request for a path that belongs to no object, such as discovery.
pub(crate) fn get_path(path: &str, accept: &'static str) -> Result<ApiRequest, RequestError> {
    let request = http::Request::get(path).header(ACCEPT, accept).body(Vec::new());
    request.map_err(|error| RequestError::InvalidRequest(error.to_string()))
}

/// Builds a POST request for a path that belongs to no object, such as a review.
pub(crate) fn post_path(path: &str, body: &Value) -> Result<ApiRequest, RequestError> {
    let request = http::Request::post(path).header(CONTENT_TYPE, "application/json");
    let request = request.body(body.to_string().into_bytes());
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
    use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
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
    fn apply_patches_are_printable_ascii() {
        let text = json!({"a": "plain", "b": "\u{7f}\u{85}ü\u{2028}\u{fffe}😀\n"});
        let body = |patch: &Patch<&serde_json::Value>| {
            let request = path("a").patch(&PatchParams::apply("m"), patch).unwrap();
            String::from_utf8(request.into_body()).unwrap()
        };
        let applied = r#"{"a":"plain","b":"\u007f\u0085\u00fc\u2028\ufffe\U0001f600\n"}"#;
        assert_eq!(body(&Patch::Apply(&text)), applied);
        assert_eq!(body(&Patch::Merge(&text)), text.to_string(), "the API server reads it as JSON");
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
