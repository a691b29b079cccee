//! Failures as HTTP: the status that fits the code, and the one JSON body.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use ebb_core::{Code, ErrorBody, Failure};

/// A refused or failed request.
#[derive(Debug)]
pub(crate) struct Rejection {
    status: StatusCode,
    failure: Failure,
}

impl Rejection {
    /// A failure with a status other than its code's.
    pub(crate) fn with_status(status: StatusCode, failure: Failure) -> Self {
        Self { status, failure }
    }
}

impl From<Failure> for Rejection {
    fn from(failure: Failure) -> Self {
        Self { status: status(failure.code), failure }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let code = self.failure.code;
        let mut response = (self.status, Json(ErrorBody::from(self.failure))).into_response();
        let headers = response.headers_mut();
        match code {
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Code::Busy => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// The status of each code: the only place where they meet.
fn status(code: Code) -> StatusCode {
    match code {
        Code::InvalidRequest | Code::InvalidValue | Code::InvalidTarget => StatusCode::BAD_REQUEST,
        Code::Unauthorized => StatusCode::UNAUTHORIZED,
        Code::Forbidden => StatusCode::FORBIDDEN,
        Code::NotFound | Code::NotLoaded => StatusCode::NOT_FOUND,
        Code::Timeout => StatusCode::REQUEST_TIMEOUT,
        Code::Conflict | Code::AlreadyExists | Code::Cancelled => StatusCode::CONFLICT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::InvalidModel
        | Code::InvalidTokenizer
        | Code::ProviderUnavailable
        | Code::CapBelowWeights
        | Code::ArenaLimit
        | Code::Unsupported => StatusCode::UNPROCESSABLE_ENTITY,
        Code::Busy => StatusCode::TOO_MANY_REQUESTS,
        Code::RuntimeLibrary | Code::WorkerCrashed | Code::Storage | Code::Internal => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        Code::OutOfMemory => StatusCode::INSUFFICIENT_STORAGE,
    }
}
