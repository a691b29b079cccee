//! Schemas, for the description of the HTTP interface, of types that write themselves into JSON in a form of their own.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        RefOr, Schema,
        schema::{ObjectBuilder, SchemaType, Type},
    },
};

use crate::{Json, KeepAlive, Target, options::Scope};

/// A text, explained.
fn text(description: &str, example: &str) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .examples([example])
        .build()
        .into()
}

impl PartialSchema for Target {
    fn schema() -> RefOr<Schema> {
        text("A device whose arena can give memory back: `cpu:N` or `gpu:N`.", "cpu:0")
    }
}

impl ToSchema for Target {}

impl PartialSchema for Scope {
    fn schema() -> RefOr<Schema> {
        let meaning =
            "What an option belongs to: `session`, `arena`, `provider.<name>`, `run`, `environment`.";
        text(meaning, "provider.cuda")
    }
}

impl ToSchema for Scope {}

impl PartialSchema for KeepAlive {
    fn schema() -> RefOr<Schema> {
        let meaning = "How long a model stays after its last request: `5m`, `90s`, a number of seconds, 0 for not at all, -1 \
                       for ever.";
        let types = SchemaType::from_iter([Type::String, Type::Number]);
        ObjectBuilder::new().schema_type(types).description(Some(meaning)).examples(["5m"]).build().into()
    }
}

impl ToSchema for KeepAlive {}

impl PartialSchema for Json {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("Any JSON.")).build().into()
    }
}

impl ToSchema for Json {}
