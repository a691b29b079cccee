//! The only crate that knows ONNX Runtime: sessions, arenas, devices, embeddings, tensors.
