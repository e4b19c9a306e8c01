import { describe, expect, it } from "vitest";
import { negotiate, negotiateStatus, type AnswerShape, wantsAggregatedDiscovery } from "../../../../../src/worker/http/negotiate/negotiate";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
const PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const PARTIAL = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PROTOBUF = "application/vnd.kubernetes.protobuf";
const AS_PARTIAL = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const PARTIAL_V1 = { as: "partial", version: "v1" };
const PROTOBUF_OBJECT = { encoding: "protobuf", transform: { as: "object" } };
const JSON_OBJECT = { encoding: "json", transform: { as: "object" } };

describe("negotiate", () => {
  const rows: { accept: string | null; shape: AnswerShape; want: unknown }[] = [
    { accept: null, shape: "object", want: JSON_OBJECT },
    { accept: "*/*", shape: "list", want: JSON_OBJECT },
    { accept: "application/*", shape: "list", want: JSON_OBJECT },
    { accept: "application/json, */*;q=0.8", shape: "object", want: JSON_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf,application/json", shape: "object", want: PROTOBUF_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf,application/json", shape: "list", want: PROTOBUF_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf,application/json", shape: "none", want: PROTOBUF_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf,application/json", shape: "document", want: JSON_OBJECT },
    { accept: "application/json,application/vnd.kubernetes.protobuf", shape: "object", want: JSON_OBJECT },
    { accept: "application/json;q=0.5,application/vnd.kubernetes.protobuf;q=0.9", shape: "object", want: PROTOBUF_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf;q=0.5,application/json", shape: "object", want: JSON_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf;q=0,application/json", shape: "object", want: JSON_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf;stream=watch", shape: "watch", want: PROTOBUF_OBJECT },
    {
      accept: `${PROTOBUF}${AS_PARTIAL},${PARTIAL},application/json`,
      shape: "object",
      want: { encoding: "protobuf", transform: PARTIAL_V1 },
    },
    {
      accept: `${PROTOBUF}${AS_PARTIAL},${PARTIAL},application/json`,
      shape: "watch",
      want: { encoding: "protobuf", transform: PARTIAL_V1 },
    },
    { accept: `${PROTOBUF}${AS_PARTIAL},${PARTIAL},application/json`, shape: "none", want: JSON_OBJECT },
    { accept: `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, shape: "list", want: undefined },
    {
      accept: `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1,${TABLE}`,
      shape: "list",
      want: { encoding: "json", transform: { as: "table", version: "v1" } },
    },
    { accept: "application/json;stream=watch", shape: "watch", want: JSON_OBJECT },
    { accept: "application/json; charset=utf-8", shape: "object", want: JSON_OBJECT },
    { accept: "Application/JSON", shape: "object", want: JSON_OBJECT },
    { accept: "application/yaml", shape: "object", want: { encoding: "yaml", transform: { as: "object" } } },
    { accept: "application/yaml", shape: "watch", want: undefined },
    { accept: "application/yaml;q=0.5, application/json", shape: "object", want: JSON_OBJECT },
    { accept: "application/json;q=0.1, application/yaml;q=0.9", shape: "object", want: { encoding: "yaml", transform: { as: "object" } } },
    { accept: "*/*, application/yaml", shape: "object", want: { encoding: "yaml", transform: { as: "object" } } },
    { accept: TABLE, shape: "list", want: { encoding: "json", transform: { as: "table", version: "v1" } } },
    { accept: TABLE, shape: "watch", want: { encoding: "json", transform: { as: "table", version: "v1" } } },
    { accept: TABLE, shape: "none", want: JSON_OBJECT },
    { accept: "application/json;as=Table;v=v1;g=meta.k8s.io", shape: "none", want: undefined },
    {
      accept: "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
      shape: "object",
      want: { encoding: "json", transform: { as: "table", version: "v1beta1" } },
    },
    { accept: "application/json;as=Table;v=v2;g=meta.k8s.io", shape: "object", want: undefined },
    { accept: "application/json;as=Table;v=v1;g=example.org,application/json", shape: "object", want: JSON_OBJECT },
    { accept: PARTIAL, shape: "object", want: { encoding: "json", transform: { as: "partial", version: "v1" } } },
    { accept: PARTIAL, shape: "watch", want: { encoding: "json", transform: { as: "partial", version: "v1" } } },
    { accept: PARTIAL, shape: "list", want: undefined },
    { accept: PARTIAL_LIST, shape: "list", want: { encoding: "json", transform: { as: "partial", version: "v1" } } },
    { accept: PARTIAL_LIST, shape: "object", want: undefined },
    { accept: "application/vnd.kubernetes.protobuf", shape: "object", want: PROTOBUF_OBJECT },
    { accept: "application/vnd.kubernetes.protobuf", shape: "document", want: undefined },
    { accept: "text/html", shape: "object", want: undefined },
    { accept: "garbage", shape: "object", want: undefined },
    { accept: "application/json;q=0", shape: "object", want: undefined },
  ];
  it.each(rows)("Accept $accept for a $shape: the first form that is served, or 406", ({ accept, shape, want }) => {
    expect(negotiate(accept, shape)).toEqual(want);
    // the second time from the cache
    expect(negotiate(accept, shape)).toEqual(want);
  });
});

describe("negotiateStatus", () => {
  it.each([
    { accept: `${PROTOBUF},application/json`, want: "protobuf" },
    { accept: `${PROTOBUF}${AS_PARTIAL},application/json`, want: "json" },
    { accept: "application/yaml", want: "yaml" },
    { accept: "text/html", want: "json" },
    { accept: null, want: "json" },
  ])("Accept $accept: a refusal is $want", ({ accept, want }) => {
    expect(negotiateStatus(accept)).toBe(want);
  });
});

describe("wantsAggregatedDiscovery", () => {
  const V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const V2BETA1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
  it.each([
    { accept: `${V2},${V2BETA1},application/json`, want: true },
    { accept: V2, want: true },
    { accept: `${V2BETA1},application/json`, want: false },
    { accept: "application/json", want: false },
    { accept: `application/json,${V2};q=0.5`, want: false },
    { accept: "*/*", want: false },
    { accept: null, want: false },
  ])("Accept $accept: $want", ({ accept, want }) => {
    expect(wantsAggregatedDiscovery(accept)).toBe(want);
  });
});
