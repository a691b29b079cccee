;; A pipeline in as few words as can be. What it does to a question goes by the question's first letter; lists and strings are
;; laid out as the component model's canonical ABI says: an address and a length, results behind a tag.
(module
  (import "ebb:plugin/plugin-host@0.1.0" "log" (func $log (param i32 i32 i32)))
  (import "ebb:plugin/plugin-host@0.1.0" "progress" (func $progress (param f32 i32 i32)))
  (import "ebb:plugin/store@0.1.0" "kv-set" (func $kv_set (param i32 i32 i32 i32 i32)))
  (import "ebb:plugin/inference@0.1.0" "count-tokens" (func $count_tokens (param i32 i32 i32 i32 i32)))
  (import "[export]ebb:plugin/pipeline@0.1.0" "[resource-new]answer" (func $answer_new (param i32) (result i32)))

  (memory (export "memory") 1)
  (global $free (mut i32) (i32.const 4096))
  ;; Pieces of the answer that were given.
  (global $given (mut i32) (i32.const 0))

  (data (i32.const 0) "reading")
  (data (i32.const 16) "key")
  (data (i32.const 32) "a.pdf")
  (data (i32.const 48) "no text")
  (data (i32.const 64) "bytes")
  (data (i32.const 80) "nothing was indexed")
  (data (i32.const 112) "b.md")
  (data (i32.const 128) "a passage")
  (data (i32.const 144) "one ")
  (data (i32.const 160) "two")
  ;; A list of one text: "reading".
  (data (i32.const 176) "\00\00\00\00\07\00\00\00")
  (data (i32.const 192) "m")

  (func (export "cabi_realloc") (param $old i32) (param $old_bytes i32) (param $align i32) (param $bytes i32) (result i32)
    (global.set $free (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.get $free)
    (global.set $free (i32.add (global.get $free) (local.get $bytes))))

  ;; Waits for a model.
  (func $wait
    (call $count_tokens (i32.const 192) (i32.const 1) (i32.const 176) (i32.const 1) (i32.const 288)))

  ;; One document, two chunks, three unchanged, four removed; one skipped; seven bytes.
  (func (export "ebb:plugin/pipeline@0.1.0#ingest") (result i32)
    (call $log (i32.const 2) (i32.const 0) (i32.const 7))
    (call $progress (f32.const 0.5) (i32.const 0) (i32.const 7))
    (call $kv_set (i32.const 16) (i32.const 3) (i32.const 0) (i32.const 7) (i32.const 256))
    (call $wait)
    (i32.store (i32.const 512) (i32.const 0))
    ;; A store that refuses: its error is the ingest's.
    (if (i32.load8_u (i32.const 256))
      (then
        (i32.store (i32.const 512) (i32.const 1))
        (i64.store (i32.const 516) (i64.load (i32.const 260)))
        (i32.store (i32.const 524) (i32.load (i32.const 268)))
        (return (i32.const 512))))
    (i32.store (i32.const 516) (i32.const 1))
    (i32.store (i32.const 520) (i32.const 2))
    (i32.store (i32.const 524) (i32.const 3))
    (i32.store (i32.const 528) (i32.const 4))
    (i32.store (i32.const 532) (i32.const 600))
    (i32.store (i32.const 536) (i32.const 1))
    (i32.store (i32.const 540) (i32.const 624))
    (i32.store (i32.const 544) (i32.const 1))
    (i32.store (i32.const 600) (i32.const 32))
    (i32.store (i32.const 604) (i32.const 5))
    (i32.store (i32.const 608) (i32.const 48))
    (i32.store (i32.const 612) (i32.const 7))
    (i32.store (i32.const 624) (i32.const 64))
    (i32.store (i32.const 628) (i32.const 5))
    (i64.store (i32.const 632) (i64.const 7))
    (i32.const 512))

  (func (export "ebb:plugin/pipeline@0.1.0#[static]answer.ask")
    (param $question i32) (param $bytes i32) (param $history i32) (param $turns i32) (result i32)
    (local $letter i32)
    (local.set $letter (i32.load8_u (local.get $question)))
    (if (i32.eq (local.get $letter) (i32.const 116)) (then unreachable)) ;; t
    (if (i32.eq (local.get $letter) (i32.const 108)) (then (loop $forever (br $forever)))) ;; l
    (if (i32.eq (local.get $letter) (i32.const 119)) (then (call $wait))) ;; w
    (if (i32.eq (local.get $letter) (i32.const 101)) ;; e: not-found
      (then
        (i32.store (i32.const 512) (i32.const 1))
        (i32.store (i32.const 516) (i32.const 1))
        (i32.store (i32.const 520) (i32.const 80))
        (i32.store (i32.const 524) (i32.const 19))
        (return (i32.const 512))))
    (call $progress (f32.const 0.25) (i32.const 0) (i32.const 7))
    (if (i32.eq (local.get $letter) (i32.const 98)) (then unreachable)) ;; b
    (i32.store (i32.const 512) (i32.const 0))
    (i32.store (i32.const 516) (call $answer_new (i32.const 1)))
    (i32.const 512))

  ;; One, whose score is not a number.
  (func (export "ebb:plugin/pipeline@0.1.0#[method]answer.citations") (param $self i32) (result i32)
    (i32.store (i32.const 512) (i32.const 0))
    (i32.store (i32.const 516) (i32.const 640))
    (i32.store (i32.const 520) (i32.const 1))
    (i32.store (i32.const 640) (i32.const 1))
    (i32.store (i32.const 644) (i32.const 112))
    (i32.store (i32.const 648) (i32.const 4))
    (i32.store (i32.const 652) (i32.const 128))
    (i32.store (i32.const 656) (i32.const 9))
    (i64.store (i32.const 664) (i64.const 10))
    (i64.store (i32.const 672) (i64.const 19))
    (f32.store (i32.const 680) (f32.const nan))
    (i32.const 512))

  (func (export "ebb:plugin/pipeline@0.1.0#[method]answer.next") (param $self i32) (result i32)
    (global.set $given (i32.add (global.get $given) (i32.const 1)))
    (i32.store (i32.const 512) (i32.const 0))
    (i32.store (i32.const 516) (i32.le_u (global.get $given) (i32.const 2)))
    (i32.store (i32.const 520) (select (i32.const 144) (i32.const 160) (i32.eq (global.get $given) (i32.const 1))))
    (i32.store (i32.const 524) (select (i32.const 4) (i32.const 3) (i32.eq (global.get $given) (i32.const 1))))
    (i32.const 512))

  (func (export "ebb:plugin/pipeline@0.1.0#[method]answer.cancel") (param $self i32)))
