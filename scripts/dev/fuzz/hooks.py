"""What schemathesis has to know of the Kubernetes API: names that exist, bodies that are nearly right, watches that end, and what an answer must be.

`npm run fuzz` names this module in SCHEMATHESIS_HOOKS.
"""

import json
from copy import deepcopy
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
# Integers at the ends of 64 bits, beyond them, and the first that a double does not have.
EXTREMES = [2**63 - 1, -(2**63), 2**63, 2**53 + 1, -1]
EXTREME = 0.1
# What upstream answers with 500 and 504, too, where the fault is the request's, or where the addresses or ports ran out: text, code, methods.
AS_UPSTREAM = [
    ("Timeout: Too large resource version", 504, ["GET"]),
    ("failed to create typed patch object", 500, ["PATCH"]),
    ("does not contain declared merge key", 500, ["PATCH"]),
    ("resourceVersion should not be set on objects to be created", 500, ["POST", "PUT", "PATCH"]),
    ("target.name: Required value", 500, ["POST"]),
    ("target.kind: Unsupported value", 500, ["POST"]),
    ("failed to allocate a serviceIP for Service", 500, ["POST", "PUT", "PATCH"]),
    ("failed to allocate a nodePort", 500, ["POST", "PUT", "PATCH"]),
    ("failed to allocate a HealthCheck NodePort", 500, ["POST", "PUT", "PATCH"]),
    ("failed to allocate requested HealthCheck NodePort", 500, ["POST", "PUT", "PATCH"]),
]
# Forms that a client may ask for in place of an object or a list. They are not in the document, as they are not in upstream's.
META = ("meta.k8s.io/v1", "meta.k8s.io/v1beta1")
FORMS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")

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


def with_an_extreme(body, random):
    """The same with an extreme in the place of one integer; the body itself where it has none."""
    body = deepcopy(body)
    places = list(integers(body))
    if places:
        around, key = random.choice(places)
        around[key] = random.choice(EXTREMES)
    return body


def integers(value):
    """(object or list, key) of every integer below a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, member in items:
        if isinstance(member, int) and not isinstance(member, bool):
            yield value, key
        yield from integers(member)


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
    if isinstance(case.body, dict) and kind["kind"] and case.method != "DELETE" and random.random() < NEARLY_RIGHT:
        name = (case.path_parameters or {}).get("name", random.choice(names))
        sample = {**samples.get(f"{kind['group']}/{kind['kind']}", {}), "apiVersion": api_version(kind), "kind": kind["kind"]}
        case.body = with_one_member({**sample, "metadata": {"name": name}}, case.body, random)
    if isinstance(case.body, (dict, list)) and random.random() < EXTREME:
        case.body = with_an_extreme(case.body, random)
    for name in ("gracePeriodSeconds", "limit"):
        if name in (case.query or {}) and random.random() < EXTREME:
            case.query = {**case.query, name: random.choice(EXTREMES)}
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
    # The 503 of a health check.
    is_documented_no = response.status_code >= 500 and str(response.status_code) in map(str, case.operation.definition.raw["responses"])
    if response.status_code >= 500 and not is_documented_no:
        texts = [text for text, code, methods in AS_UPSTREAM if code == response.status_code and case.method in methods]
        assert any(text.encode() in response.content for text in texts), f"{case.method} {response.status_code} {response.content[:500]}"
    watched = is_watch(case) and response.status_code < 400
    if PROTOBUF in content_type(response):
        if watched:
            check_frames(response.content)
        else:
            check_envelope(response)
    elif response.status_code >= 400 and not is_documented_no:
        check_refusal(response)
    elif watched:
        check_events(response)
    elif not is_other_form(response, case):
        case.operation.validate_response(response, case=case)


def content_type(response):
    return response.headers.get("content-type", [""])[0]


def read_yaml_or_json(response):
    read = yaml.safe_load if "yaml" in content_type(response) else json.loads
    try:
        return read(response.content)
    except (ValueError, yaml.YAMLError) as error:
        raise AssertionError(f"an unreadable answer: {error}: {response.content[:500]}") from error


def check_refusal(response):
    status = read_yaml_or_json(response)
    told = [status.get(name) for name in ("kind", "apiVersion", "status", "code")] if isinstance(status, dict) else None
    assert told == ["Status", "v1", "Failure", response.status_code], f"a refusal that is no Status of its code: {status}"
    assert status["message"], f"a refusal without a message: {status}"
    validators[("v1", "Status")].validate(status)


def check_events(response):
    for line in response.content.splitlines():
        event = json.loads(line)
        assert event["type"] in EVENT_TYPES, event
        if event["type"] == "BOOKMARK":
            check_bookmark(event["object"])
        else:
            check_object(event["object"])


def is_other_form(response, case):
    """Whether the request asks for a Table or for metadata alone and the answer is one, which it then checks."""
    if response.status_code == 304 or "as=" not in str((case.headers or {}).get("Accept", "")):
        return False
    answer = read_yaml_or_json(response)
    # The targets for Prometheus are a list, whatever form the request asks for.
    if not isinstance(answer, dict) or answer.get("apiVersion") not in META:
        return False
    check_object(answer)
    return True


def check_bookmark(value):
    """A place in a stream: of its kind it has metadata and what the kind requires, empty. A Table is whole, without rows or with an empty one."""
    if value["kind"] == "Table":
        check_object(value)
        return
    assert value["metadata"]["resourceVersion"], value
    if value["apiVersion"] in META:
        assert value["kind"] in FORMS and set(value) == {"kind", "apiVersion", "metadata"}, value
        return
    # An empty value may be none of those that the schema allows.
    absent = [problem.message for problem in validators[(value["apiVersion"], value["kind"])].iter_errors(value) if list(problem.schema_path)[-1] == "required"]
    assert absent == [], f"{absent[0]}: {value}"


def check_object(value):
    """An object, a list, or a form of one."""
    version, kind = value["apiVersion"], value["kind"]
    if version not in META:
        problems = list(validators[(version, kind)].iter_errors(value))
        assert problems == [], f"{problems[0].message}: {str(value)[:500]}"
        return
    assert kind in FORMS, value
    if kind == "Table":
        # In a watch the first event alone has the columns.
        columns = {len(value["columnDefinitions"])} if value["columnDefinitions"] else set()
        assert len(columns | {len(row["cells"]) for row in value["rows"]}) <= 1, f"a row of another length: {str(value)[:500]}"
    elif kind == "PartialObjectMetadata":
        assert set(value) == {"kind", "apiVersion", "metadata"}, value
    else:
        for item in value["items"]:
            check_object(item)


def protobuf_fields(data):
    """Field number -> its last value: an integer, or bytes. Fails on bytes that are no message."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            fields[tag >> 3], at = varint(data, at)
            continue
        assert tag & 7 == 2, f"wire type {tag & 7}: {data[:500]}"
        length, at = varint(data, at)
        assert at + length <= len(data), f"cut short: {data[:500]}"
        fields[tag >> 3], at = data[at : at + length], at + length
    return fields


def varint(data, at):
    value = shift = 0
    while True:
        assert at < len(data), f"cut short: {data[:500]}"
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def check_envelope(response):
    """The bytes are an enveloped object of a known kind; a refusal is a Status of its code. Source: upstream metav1.Status."""
    kind, message = enveloped(response.content)
    if response.status_code >= 400:
        assert kind == ("v1", "Status"), f"a refusal that is no Status: {kind}"
        assert (message[2], message[6]) == (b"Failure", response.status_code), f"a refusal that is no Status of its code: {message}"
        assert message[3], f"a refusal without a message: {message}"


def enveloped(data):
    """(apiVersion, kind) and the fields of an enveloped object. Source: upstream runtime.Unknown."""
    assert data.startswith(PROTOBUF_MAGIC), data[:500]
    envelope = protobuf_fields(data[len(PROTOBUF_MAGIC) :])
    types = protobuf_fields(envelope[1])
    version, kind = types[1].decode(), types[2].decode()
    known = kind in FORMS and kind != "Table" if version in META else (version, kind) in validators
    assert known, f"{version} {kind}"
    return (version, kind), protobuf_fields(envelope[2])


def check_frames(data):
    """A watch: each WatchEvent behind its length in four bytes. An error has a Status, any other event another object."""
    while data:
        length = int.from_bytes(data[:4], "big")
        assert 4 + length <= len(data), f"cut short: {data[:500]}"
        event = protobuf_fields(data[4 : 4 + length])
        assert event[1].decode() in EVENT_TYPES, event
        kind, _ = enveloped(protobuf_fields(event[2])[1])
        assert (event[1] == b"ERROR") == (kind == ("v1", "Status")), event
        data = data[4 + length :]
