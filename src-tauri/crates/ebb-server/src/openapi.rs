//! The description of every route as an OpenAPI document, made of the routes themselves.

use axum::{
    Extension,
    http::header,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use ebb_core::{ErrorBody, ErrorFields};
use utoipa::{
    PartialSchema as _, ToSchema as _,
    openapi::{
        Components, ContentBuilder, InfoBuilder, OpenApi, OpenApiBuilder, Ref, RefOr, Required,
        ResponseBuilder,
        path::{Operation, ParameterBuilder, ParameterIn, PathItem},
        schema::{ObjectBuilder, Type},
        security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme},
    },
};

use crate::routes::described;

/// How a caller shows who it is.
const BEARER: &str = "bearer";

/// What the document says before any route is added to it.
pub(crate) fn frame() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Ebb")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Local models that give memory back: control under /ebb/v1, OpenAI's dialect under /v1.",
        ))
        .build();
    let token = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some(
            "The token of run/host.json in Ebb's data folder, or a key that `ebb key add` made.",
        ))
        .build();
    let mut components = Components::new();
    components.add_security_scheme(BEARER, SecurityScheme::Http(token));
    OpenApiBuilder::new()
        .info(info)
        .components(Some(components))
        .security(Some([SecurityRequirement::new(BEARER, [""; 0])]))
        .build()
}

/// Adds what holds for every route: a name, the parameters in its path, and the one error form.
pub(crate) fn complete(mut document: OpenApi) -> OpenApi {
    let mut errors = Vec::new();
    ErrorBody::schemas(&mut errors);
    errors.push((ErrorBody::name().into_owned(), ErrorBody::schema()));
    errors.push((ErrorFields::name().into_owned(), ErrorFields::schema()));
    document.components.get_or_insert_default().schemas.extend(errors);
    for (path, item) in &mut document.paths.paths {
        for (method, operation) in operations(item) {
            operation.operation_id = Some(id(method, path));
            let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
            operation.parameters.get_or_insert_default().extend(names.map(|name| {
                ParameterBuilder::new()
                    .name(name)
                    .parameter_in(ParameterIn::Path)
                    .required(Required::True)
                    .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                    .build()
                    .into()
            }));
            for response in operation.responses.responses.values_mut() {
                // Each must have one, and the schema says what there is to say.
                if let RefOr::T(response) = response
                    && response.description.is_empty()
                {
                    "The answer.".clone_into(&mut response.description);
                }
            }
            operation.responses.responses.insert("default".to_owned(), failed());
        }
    }
    document
}

/// The operations of a path, by method.
pub(crate) fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let all = [
        ("get", &mut item.get),
        ("put", &mut item.put),
        ("post", &mut item.post),
        ("delete", &mut item.delete),
    ];
    all.into_iter().filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// A name for an operation that no other has, of which generators of clients make a function: `post_v1_embeddings`.
fn id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(method).chain(words).collect::<Vec<_>>().join("_")
}

fn failed() -> RefOr<utoipa::openapi::Response> {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ErrorBody::name()))).build();
    ResponseBuilder::new()
        .description("Refused or failed.")
        .content("application/json", content)
        .build()
        .into()
}

/// The description of every route, as clients are generated from it: the document of `/ebb/v1/openapi.json`, laid out for
/// people and their tools, the same each time.
pub fn openapi_json() -> String {
    // Plain fields and text keys always have a JSON form.
    let mut json = serde_json::to_string_pretty(&described().1).unwrap_or_default();
    json.push('\n');
    json
}

/// The document as it is served.
#[derive(Debug, Clone)]
pub(crate) struct Document(Bytes);

impl Document {
    pub(crate) fn of(description: &OpenApi) -> Self {
        // Plain fields and text keys always have a JSON form.
        Self(serde_json::to_vec(description).unwrap_or_default().into())
    }
}

/// This document: every route, in OpenAPI 3.1.
#[utoipa::path(get, path = "/ebb/v1/openapi.json", tag = "host", responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn document(Extension(Document(json)): Extension<Document>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json).into_response()
}
