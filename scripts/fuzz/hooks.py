"""What schemathesis has to know of the Kubernetes API: names that exist, bodies that are nearly right, watches that end, and what an answer must be.

`npm run fuzz` names this module in SCHEMATHESIS_HOOKS.
"""

import json
from random import Random
from zlib import crc32

import jsonschema_rs
import schemathesis
import yaml
from schemathesis.core import NOT_SET

# Few enough that requests meet each other's objects.
NAMES = ["a", "b", "c"]
ADDRESSES = ["10.96.0.1", "10.96.0.9", "203.0.113.1"]
NAMESPACES = ["default", "kube-system", "a"]
PROTOBUF = "application/vnd.kubernetes.protobuf"
PROTOBUF_MAGIC = b"k8s\x00"
# Parts of all requests: those of known objects, those with a body that is nearly right, watches that stay for a second.
KNOWN = 0.8
NEARLY_RIGHT = 0.5
LASTING = 0.05
EVENT_TYPES = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
# Texts with which upstream answers 500 and 504, too, where the fault is the request's.
AS_UPSTREAM = [
    "Timeout: Too large resource version",
    "failed to create typed patch object",
    "does not contain declared merge key",
    "resourceVersion should not be set on objects to be created",
    "target.name: Required value",
    "target.kind: Unsupported value",
]

# (apiVersion, kind) -> validator of such objects
validators = {}
# "group/kind" -> a small valid object
samples = {}


@schemathesis.hook
def after_load_schema(context, schema):
    """Keeps what the document says of kinds."""
    components = as_json_schema(schema.raw_schema["components"])
    samples.update(schema.raw_schema["x-samples"])
    for name, component in components["schemas"].items():
        reference = {"$ref": f"#/components/schemas/{name}", "components": components}
        for kind in component.get("x-kubernetes-group-version-kind", []):
            validators[(api_version(kind), kind["kind"])] = jsonschema_rs.Draft4Validator(reference)


def as_json_schema(value):
    """The same with the one word of OpenAPI that JSON Schema says in another way."""
    if isinstance(value, list):
        return [as_json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    nullable = {"type": [value["type"], "null"]} if value.get("nullable") is True else {}
    return {**{name: as_json_schema(member) for name, member in value.items()}, **nullable}


def api_version(kind):
    return f"{kind['group']}/{kind['version']}".lstrip("/")


def with_one_member(sample, body, random):
    """The sample with one member of the random body, or of an object in it."""
    outer = [(None, key) for key in body if key not in ("apiVersion", "kind", "metadata")]
    inner = [(key, member) for key, value in body.items() if isinstance(value, dict) for member in value if member != "name"]
    if not outer + inner:
        return sample
    key, member = random.choice(outer + inner)
    if key is None:
        return {**sample, member: body[member]}
    around = sample.get(key)
    return {**sample, key: {**(around if isinstance(around, dict) else {}), member: body[key][member]}}


def is_watch(case):
    """Whether the request asks for a stream: the first value counts, and an empty one is true."""
    value = (case.query or {}).get("watch")
    first = next(iter(value), None) if isinstance(value, (list, tuple)) else value
    return case.method == "GET" and first is not None and str(first).lower() not in ("false", "0")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Most requests meet objects of a few names. Half of the objects sent are nearly right: others nearly all fail at the first check.

    What becomes of a request depends on the request alone, so that a seed repeats a run.
    """
    body = None if case.body is NOT_SET else case.body
    request = (case.method, case.path, case.path_parameters, case.query, body)
    random = Random(crc32(repr(request).encode()))
    kind = case.operation.definition.raw.get("x-kubernetes-group-version-kind", {"group": "", "version": "v1", "kind": ""})
    names = ADDRESSES if kind["kind"] == "IPAddress" else NAMES
    for name in case.path_parameters or {}:
        if random.random() < KNOWN:
            case.path_parameters[name] = random.choice(NAMESPACES if name == "namespace" else names)
    if isinstance(case.body, dict) and case.method != "DELETE" and random.random() < NEARLY_RIGHT:
        name = (case.path_parameters or {}).get("name", random.choice(names))
        sample = {**samples.get(f"{kind['group']}/{kind['kind']}", {}), "apiVersion": api_version(kind), "kind": kind["kind"]}
        case.body = with_one_member({**sample, "metadata": {"name": name}}, case.body, random)
    if case.method == "DELETE" and case.path.endswith("/servicecidrs"):
        # Without the default range no Service could be made, and nothing more would be found.
        case.query, case.body = {"dryRun": "All"}, NOT_SET
    if is_watch(case):
        case.query = {**case.query, "timeoutSeconds": 1 if random.random() < LASTING else -1}


@schemathesis.serializer(PROTOBUF)
def to_protobuf(context, value):
    """Bytes behind the first four of the envelope: nonsense, which the server has to survive."""
    return PROTOBUF_MAGIC + (value if isinstance(value, bytes) else json.dumps(value, default=str).encode())


@schemathesis.check
def answers_as_documented(context, response, case):
    """An answer fits the schema of its code, a refusal is a Status of its code, a watch is a stream of events with objects that fit theirs."""
    if response.status_code >= 500:
        expected = any(text.encode() in response.content for text in AS_UPSTREAM)
        assert expected, f"{response.status_code} {response.content[:500]}"
    if PROTOBUF in content_type(response):
        is_watched = is_watch(case) and response.status_code < 400
        assert is_watched or response.content.startswith(PROTOBUF_MAGIC), response.content[:500]
    elif response.status_code >= 400:
        check_refusal(response)
    elif is_watch(case):
        check_events(response)
    else:
        case.operation.validate_response(response, case=case)


def content_type(response):
    return response.headers.get("content-type", [""])[0]


def check_refusal(response):
    read = yaml.safe_load if "yaml" in content_type(response) else json.loads
    try:
        status = read(response.content)
    except (ValueError, yaml.YAMLError) as error:
        raise AssertionError(f"an unreadable refusal: {error}: {response.content[:500]}") from error
    told = [status.get(name) for name in ("kind", "apiVersion", "status", "code")] if isinstance(status, dict) else None
    assert told == ["Status", "v1", "Failure", response.status_code], f"a refusal that is no Status of its code: {status}"
    assert status["message"], f"a refusal without a message: {status}"
    validators[("v1", "Status")].validate(status)


def check_events(response):
    for line in response.content.splitlines():
        event = json.loads(line)
        assert event["type"] in EVENT_TYPES, event
        seen = event["object"]
        problems = list(validators[(seen["apiVersion"], seen["kind"])].iter_errors(seen))
        assert problems == [], f"{problems[0].message}: {line[:500]}"
