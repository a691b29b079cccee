//! The routes for callers in this process: what the desktop app's own window calls, with no port between.

use std::{error::Error, fmt};

use axum::{
    Router,
    body::Body,
    http::{Request, Response},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use tower::ServiceExt as _;

/// An answer's body. It is made as it is read: whoever stops reading holds the work up, whoever drops it cancels the work.
pub type AnswerBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Every route, called in this process and with every right: no token is asked for, and neither Host nor Origin is looked
/// at. Answers, refusals among them, are those that the port gives. Clones are cheap and reach the same routes.
#[derive(Clone)]
pub struct Inside {
    router: Router,
}

impl Inside {
    pub(crate) fn new(router: Router) -> Self {
        Self { router }
    }

    /// Calls the route of this method and path. The body is read within the limits of [`ServeOptions`](crate::ServeOptions).
    pub async fn call(&self, request: Request<Bytes>) -> Response<AnswerBody> {
        let answered = self.router.clone().oneshot(request.map(Body::from)).await;
        let response = answered.unwrap_or_else(|never| match never {});
        response.map(|body| body.map_err(Into::into).boxed_unsync())
    }
}

impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
}
