//! Supervises workers: one actor a model, policies, samples, events.
