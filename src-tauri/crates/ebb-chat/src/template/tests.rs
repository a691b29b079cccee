use ebb_core::{Code, Failure, Message, ToolCall, ToolChoice};
use serde_json::json;

use super::*;
use crate::scene::{ask, weather};

/// In the manner of models that mark turns with `<|im_start|>`.
const CHATML: &str = "{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
";

/// In the manner of Llama 3: the first token, headers, trimmed content.
const LLAMA: &str = "{% set loop_messages = messages %}{% for message in loop_messages %}\
{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' %}\
{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}";

/// In the manner of Gemma: no system, turns in alternation, the assistant is called model.
const GEMMA: &str = "{{ bos_token }}
{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{% for message in messages %}
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
        {{ raise_exception('Conversation roles must alternate user/assistant') }}
    {% endif %}
    {% if message['role'] == 'assistant' %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{ '<start_of_turn>' + role + '\n' + message['content'].strip() + '<end_of_turn>\n' -}}
{% endfor %}
{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}";

/// In the manner of Mistral: the system message within the last turn, tools before it, calls as a list.
const MISTRAL: &str = "{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr('role', 'equalto', 'user') | list %}
{%- set ns = namespace(calls=0) %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message['role'] == 'user' %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- '[AVAILABLE_TOOLS] [' }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{\"type\": \"function\", \"function\": {' }}
                {%- for key, val in tool.items() if key != 'return' %}
                    {%- if val is string %}{{- '\"' + key + '\": \"' + val + '\"' }}{%- else %}{{- '\"' + key + '\": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ', ' }}{%- endif %}
                {%- endfor %}
                {{- '}}' }}{%- if not loop.last %}{{- ', ' }}{%- endif %}
            {%- endfor %}
            {{- '][/AVAILABLE_TOOLS]' }}
        {%- endif %}
        {%- if loop.last and system_message is defined %}
            {{- '[INST] ' + system_message + '\\n\\n' + message['content'] + '[/INST]' }}
        {%- else %}
            {{- '[INST] ' + message['content'] + '[/INST]' }}
        {%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- '[TOOL_CALLS] [' }}
        {%- for tool_call in message.tool_calls %}
            {%- set ns.calls = ns.calls + 1 %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {%- if tool_call.id is not defined or tool_call.id|length != 9 %}
                {{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}
            {%- endif %}
            {{- ', \"id\": \"' + tool_call.id + '\"}' }}
            {%- if not loop.last %}{{- ', ' }}{%- else %}{{- ']' + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message['role'] == 'assistant' %}
        {{- ' ' + message['content'] + eos_token }}
    {%- elif message['role'] == 'tool' %}
        {{- '[TOOL_RESULTS] {\"content\": ' + message.content|string + ', \"call_id\": \"' + message.tool_call_id + '\"}[/TOOL_RESULTS]' }}
    {%- endif %}
{%- endfor %}";

fn template(source: &str) -> Template {
    let special =
        [("bos_token", "<s>"), ("eos_token", "</s>")].map(|(name, token)| (name.into(), token.into()));
    let sources = [("default".to_owned(), source.to_owned())].into();
    Template::new(&sources, special.into(), Path::new("model")).unwrap().unwrap()
}

fn rendered(source: &str, generation: &Generation) -> String {
    template(source).render(generation).unwrap()
}

fn refused(source: &str, generation: &Generation) -> Failure {
    template(source).render(generation).unwrap_err().into()
}

fn talk(turns: &[(&str, &str)]) -> Generation {
    let messages = turns.iter().map(|&(role, content)| Message::new(role, content)).collect();
    Generation { messages, ..Generation::default() }
}

/// A conversation in which a tool was called.
fn called() -> Generation {
    let mut generation =
        talk(&[("system", "Be short."), ("user", "Rain?"), ("assistant", ""), ("tool", "no")]);
    generation.messages[2].tool_calls = vec![ToolCall {
        id: "abcdefghi".to_owned(),
        name: "weather".to_owned(),
        arguments: r#"{"city":"Rom"}"#.to_owned(),
    }];
    generation.messages[3].tool_call_id = Some("abcdefghi".to_owned());
    generation.messages.push(Message::new("user", "And now?"));
    generation.tools = vec![weather()];
    generation
}

#[test]
fn well_known_templates_write_what_their_models_read() {
    let turns = talk(&[("user", " Hi "), ("assistant", "Hello"), ("user", "Bye")]);
    assert_eq!(
        rendered(CHATML, &turns),
        "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n\
         <|im_start|>assistant\n"
    );
    assert_eq!(
        rendered(LLAMA, &talk(&[("system", "Be kind."), ("user", " Hi ")])),
        "<s><|start_header_id|>system<|end_header_id|>\n\nBe kind.<|eot_id|>\
         <|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"
    );
    assert_eq!(
        rendered(GEMMA, &turns),
        "<s>\n<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello<end_of_turn>\n\
         <start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n"
    );
}

#[test]
fn tools_and_calls_are_written_as_the_template_has_them() {
    assert_eq!(
        rendered(MISTRAL, &called()),
        "<s>[INST] Rain?[/INST][TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {\"city\": \"Rom\"}, \
         \"id\": \"abcdefghi\"}]</s>[TOOL_RESULTS] {\"content\": no, \"call_id\": \"abcdefghi\"}[/TOOL_RESULTS]\
         [AVAILABLE_TOOLS] [{\"type\": \"function\", \"function\": {\"name\": \"weather\", \
         \"description\": \"Tells the weather\", \"parameters\": {\"type\": \"object\", \"properties\": \
         {\"city\": {\"enum\": [\"Bern\", \"Rom\"]}}, \"required\": [\"city\"], \"additionalProperties\": false}}}]\
         [/AVAILABLE_TOOLS][INST] Be short.\n\nAnd now?[/INST]"
    );
    let untold = Generation { tool_choice: ToolChoice::None, ..called() };
    assert!(!rendered(MISTRAL, &untold).contains("AVAILABLE_TOOLS"));
    assert!(template(MISTRAL).takes_tools() && !template(CHATML).takes_tools());
}

#[test]
fn a_template_that_knows_no_tools_is_helped() {
    let text = rendered(CHATML, &called());
    assert!(text.starts_with("<|im_start|>system\nBe short.\n\nYou may call functions"), "{text}");
    assert!(
        text.contains("<tools>\n{\"type\": \"function\", \"function\": {\"name\": \"weather\""),
        "{text}"
    );
    assert!(text.contains(
        "<|im_start|>assistant\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Rom\"}}\n</tool_call>"
    ));
    assert!(text.contains("<|im_start|>user\n<tool_response>\nno\n</tool_response><|im_end|>"), "{text}");
    let text = rendered(CHATML, &Generation { tools: vec![weather()], ..ask("Rain?") });
    assert!(text.starts_with("<|im_start|>system\nYou may call functions"), "{text}");
}

#[test]
fn arguments_are_text_for_a_template_that_puts_them_together() {
    let source = "{{ tools | length }}{% for call in messages[2].tool_calls %}{{ call.function.name + call.function.arguments }}{% endfor %}";
    assert_eq!(rendered(source, &called()), "1weather{\"city\":\"Rom\"}");
    let failure = refused("{{ tools }}{{ messages[2].tool_calls[0].function.arguments + 1 }}", &called());
    assert!(failure.message.contains("invalid operation"), "{failure}");
}

#[test]
fn what_a_template_refuses_is_told_in_its_own_words() {
    let failure = refused(GEMMA, &talk(&[("system", "x"), ("user", "y")]));
    assert_eq!(failure.code, Code::InvalidRequest);
    assert_eq!(
        failure.message,
        "the model's chat template cannot write this conversation: System role not supported"
    );
    assert_eq!(failure.hint.as_deref(), Some(REFUSED));
    let failure = refused(GEMMA, &talk(&[("user", "x"), ("user", "y")]));
    assert!(failure.message.ends_with("Conversation roles must alternate user/assistant"), "{failure}");
}

#[test]
fn a_template_that_fails_says_where() {
    for (source, reason) in [
        (
            "a\n{{ messages[0].content.frobnicate() }}",
            "unknown method: string has no method named frobnicate (line 2)",
        ),
        ("{{ messages[9].content }}", "undefined value"),
        ("{{ nothing() }}", "unknown function"),
        ("{{ 1 + [] }}", "invalid operation"),
        ("{% for x in %}", "syntax error"),
        ("{% if true %}", "syntax error"),
        ("{% include 'other' %}", ""),
        ("{% macro m(x) %}{{ m(x) }}{% endmacro %}{{ m(1) }}", ""),
    ] {
        let failure = refused(source, &ask("x"));
        assert_eq!(failure.code, Code::InvalidRequest, "{source}");
        assert!(failure.message.contains(reason), "{source}: {failure}");
    }
}

#[test]
fn a_template_that_does_not_end_is_ended() {
    for source in [
        "{% for a in range(100000) %}{% for b in range(100000) %}{{ a * b }}{% endfor %}{% endfor %}",
        "{% set ns = namespace(x='x') %}{% for a in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x }}",
        "{% set x = 'x' * 100000000 %}{% for a in range(100000) %}{{ x }}{% endfor %}",
        "{% for a in range(9000) %}{{ messages[0].content.replace('', messages[0].content) }}{% endfor %}",
    ] {
        let failure = refused(source, &ask(&"x".repeat(10_000)));
        assert_eq!(failure.code, Code::InvalidRequest);
        assert!(
            failure.message.contains("does not come to an end")
                || failure.message.contains("too large")
                || failure.message.contains("range"),
            "{failure}"
        );
    }
}

#[test]
fn jinja_is_as_hugging_face_runs_it() {
    for (source, text) in [
        ("{{ messages[0]['content'].split('b')[-1].lstrip() }}", "c"),
        ("{% generation %}{{ 'x' }}{% endgeneration %}", "x"),
        ("a\n  {%- generation -%}\n  b\n  {%- endgeneration -%}\n  c", "abc"),
        (
            "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}",
            "02",
        ),
        (
            "{% set ns = namespace(n=0) %}{% for i in [1, 2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
            "3",
        ),
        ("{{ true }} {{ false }} {{ none }} {{ missing }}", "True False None "),
        ("{{ {'a': '<é>', 'b': [1, 2]} | tojson }}", "{\"a\": \"<é>\", \"b\": [1, 2]}"),
        ("{{ {'b': 1, 'a': 2} | tojson(indent=2) }}", "{\n  \"b\": 1,\n  \"a\": 2\n}"),
        ("{{ [1, 2] | tojson(separators=(',', ':')) }}", "[1,2]"),
        ("  {% if true %}\nx\n  {% endif %}\ny\n", "x\ny"),
        ("{{ strftime_now('%Y')[:2] }}", "20"),
        ("{{ messages[0].get('name', 'nobody') }}", "nobody"),
        ("{{ 'tool_calls' in messages[0] }}", "False"),
        ("{% if messages[0].content is string and messages[0].tool_calls is not defined %}y{% endif %}", "y"),
        ("{%- macro m(x, y='d') -%}{{ x ~ y }}{%- endmacro -%}{{ m('a') }}{{ m('a', y='b') }}", "adab"),
        ("{{ '%s-%s' | format('a', 'b') }}{{ messages[0].content.upper().title() }}", "a-b A B C"),
        ("{{ messages | map(attribute='role') | join(',') }}", "user"),
        ("{{ (messages | length) == 1 and not tools }}", "True"),
    ] {
        let trimmed = rendered(source, &ask(" a b c")).trim_start().to_owned();
        assert_eq!(trimmed, text.trim_start(), "{source}");
    }
}

#[test]
fn options_of_a_request_reach_the_template() {
    let source = "{{ enable_thinking is defined and enable_thinking }} {{ messages | length }} {{ bos_token }}\
        {{ add_generation_prompt }}";
    assert_eq!(rendered(source, &ask("x")), "False 1 <s>True");
    let options =
        [("enable_thinking", json!(true)), ("messages", json!([])), ("add_generation_prompt", json!(false))];
    let template_options = options.map(|(name, value)| (name.to_owned(), value.into())).into();
    assert_eq!(rendered(source, &Generation { template_options, ..ask("x") }), "True 1 <s>False");
}

#[test]
fn a_model_may_have_a_template_for_tools() {
    let sources = [
        ("default".to_owned(), "plain".to_owned()),
        ("tool_use".to_owned(), "{{ tools[0].function.name }}".to_owned()),
    ];
    let template = Template::new(&sources.into(), BTreeMap::new(), Path::new("model")).unwrap().unwrap();
    assert!(template.takes_tools());
    assert_eq!(template.render(&ask("x")).unwrap(), "plain");
    assert_eq!(template.render(&Generation { tools: vec![weather()], ..ask("x") }).unwrap(), "weather");
}

#[test]
fn developers_speak_as_the_system_where_the_template_does_not_know_them() {
    let turns = talk(&[("developer", "Be kind."), ("user", "Hi")]);
    assert!(rendered(CHATML, &turns).starts_with("<|im_start|>system\nBe kind."));
    assert_eq!(rendered("{% if messages[0].role == 'developer' %}d{% endif %}", &turns), "d");
}
