//! Foreign weights made into ONNX model folders.
