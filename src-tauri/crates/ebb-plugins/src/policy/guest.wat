;; A policy that brings WASI. What it does after a request goes by the number of the request's items; results lie behind a tag.
(module
  (import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))
  (import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $subscribe (param i64) (result i32)))
  (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
  (import "wasi:random/random@0.2.6" "get-random-u64" (func $random (result i64)))

  (memory (export "memory") 1)
  (global $free (mut i32) (i32.const 4096))
  (global $calls (mut i32) (i32.const 0))
  (data (i32.const 64) "cpu:0")
  (data (i32.const 80) "disk:0")
  (data (i32.const 96) "calls")

  (func (export "cabi_realloc") (param $old i32) (param $old_bytes i32) (param $align i32) (param $bytes i32) (result i32)
    (global.set $free (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.get $free)
    (global.set $free (i32.add (global.get $free) (local.get $bytes))))

  ;; The answer: a decision by its number, at 1024.
  (func $decide (param $decision i32) (result i32)
    (global.set $free (i32.const 4096))
    (memory.fill (i32.const 1024) (i32.const 0) (i32.const 32))
    (i32.store8 (i32.const 1028) (local.get $decision))
    (i32.const 1024))

  ;; Shrinks what is listed at 2048.
  (func $shrink (param $devices i32) (result i32)
    (drop (call $decide (i32.const 1)))
    (i32.store (i32.const 1032) (i32.const 2048))
    (i32.store (i32.const 1036) (local.get $devices))
    (i32.const 1024))

  (func $device (param $place i32) (param $text i32) (param $bytes i32)
    (i32.store (local.get $place) (local.get $text))
    (i32.store offset=4 (local.get $place) (local.get $bytes)))

  (func $deep_down unreachable)

  (func $after_run (export "ebb:plugin/policy@0.1.0#on-run") (param $run i32) (result i32)
    (local $items i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (local.set $items (i32.load offset=24 (local.get $run)))
    (if (i32.eq (local.get $items) (i32.const 1))
      (then (call $block (call $subscribe (i64.const 1000000)))))
    (if (i32.eq (local.get $items) (i32.const 2))
      (then (call $deep_down)))
    ;; A known device and one that is none.
    (if (i32.eq (local.get $items) (i32.const 3))
      (then
        (call $device (i32.const 2048) (i32.const 64) (i32.const 5))
        (call $device (i32.const 2056) (i32.const 80) (i32.const 6))
        (return (call $shrink (i32.const 2)))))
    ;; None that is known.
    (if (i32.eq (local.get $items) (i32.const 4))
      (then
        (call $device (i32.const 2048) (i32.const 80) (i32.const 6))
        (return (call $shrink (i32.const 1)))))
    ;; Every arena.
    (if (i32.eq (local.get $items) (i32.const 5))
      (then (return (call $shrink (i32.const 0)))))
    ;; Not before the second call of an instance.
    (if (i32.eq (local.get $items) (i32.const 6))
      (then
        (if (i32.ge_u (global.get $calls) (i32.const 2))
          (then (return (call $decide (i32.const 5)))))
        (return (call $decide (i32.const 0)))))
    ;; Something finer than a millisecond.
    (if (i32.eq (local.get $items) (i32.const 7))
      (then
        (if (i64.ne (i64.rem_u (call $now) (i64.const 1000000)) (i64.const 0))
          (then (return (call $decide (i32.const 4)))))))
    ;; By chance.
    (if (i32.eq (local.get $items) (i32.const 8))
      (then
        (if (i64.eqz (i64.and (call $random) (i64.const 1)))
          (then (return (call $decide (i32.const 4)))))
        (return (call $decide (i32.const 5)))))
    ;; An error of its own: "calls".
    (if (i32.eq (local.get $items) (i32.const 9))
      (then
        (drop (call $decide (i32.const 0)))
        (i32.store8 (i32.const 1024) (i32.const 1))
        (call $device (i32.const 1028) (i32.const 96) (i32.const 5))
        (return (i32.const 1024))))
    (call $decide (i32.const 0)))

  ;; Unloads after a second.
  (func (export "ebb:plugin/policy@0.1.0#on-idle")
    (param i32 i32 i64 i32 i32 i64 i64 i64 i64 i32 i32 i32 i32 i32 i32) (result i32)
    (if (i64.ge_u (local.get 2) (i64.const 1000))
      (then (return (call $decide (i32.const 5)))))
    (call $decide (i32.const 0)))

  ;; Reloads where less than a tenth is left.
  (func (export "ebb:plugin/policy@0.1.0#on-pressure")
    (param i32 i32 i64 i64 i32 i32 i64 i64 i64 i64 i32 i32 i32 i32 i32 i32) (result i32)
    (if (i64.lt_u (i64.mul (local.get 2) (i64.const 10)) (local.get 3))
      (then (return (call $decide (i32.const 4)))))
    (call $decide (i32.const 0))))
