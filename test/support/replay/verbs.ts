/** Verbs on every kind: what each answers for objects that are there and that are not. */
import { collectionOf, type Kind, KINDS, nameOf, objectOf, rootOf, titleOf } from "./kinds";
import {
  alone,
  APPLY_PATCH,
  type Case,
  get,
  type Group,
  JSON_PATCH,
  MERGE_PATCH,
  PARTIAL,
  PARTIAL_LIST,
  patch,
  post,
  put,
  remove,
  STRATEGIC_PATCH,
  TABLE,
  watch,
} from "./step";

export const verbGroups: readonly Group[] = KINDS.map((kind) => ({ name: `verbs-${titleOf(kind)}`, cases: [...casesOf(kind)] }));

function* casesOf(kind: Kind): Generator<Case> {
  const group = `verbs-${titleOf(kind)}`;
  const collection = collectionOf(kind);
  const ref = (name: string) => `${kind.kind}/${name}`;
  let n = 0;
  const next = (metadata: object = {}) => {
    const name = nameOf(kind, group, ++n);
    const object = objectOf(kind, name, n, { labels: { group }, ...metadata });
    return { name, path: `${collection}/${name}`, object, rv: `$(rv ${ref(name)})`, uid: `$(uid ${ref(name)})` };
  };
  const changed = (object: object, metadata: object) => ({
    ...object,
    metadata: { ...(object as { metadata: object }).metadata, ...metadata },
  });

  {
    const { path, object, rv } = next();
    yield {
      name: "create, read, change, delete",
      steps: [
        { ...post(`${collection}?fieldManager=creator`, object), managed: true },
        post(collection, object),
        get(path),
        get(path, TABLE),
        get(path, PARTIAL),
        { ...patch(`${path}?fieldManager=changer`, JSON_PATCH, kind.change), managed: true },
        put(path, changed(object, { labels: { group, a: "b" }, resourceVersion: rv })),
        put(path, changed(object, { labels: { group, a: "b" }, resourceVersion: rv })),
        remove(path),
        get(path),
        remove(path),
      ],
    };
  }
  {
    const { path, object, rv, uid } = next();
    yield {
      name: "updates",
      steps: [
        put(path, object),
        put(`${path}-x`, object),
        post(collection, object),
        put(path, object),
        put(path, changed(object, { labels: { group, a: "c" } })),
        put(path, changed(object, { resourceVersion: "1" })),
        put(path, changed(object, { resourceVersion: "x" })),
        put(path, changed(object, { uid: "other" })),
        put(path, changed(object, { uid, resourceVersion: rv, labels: { group, a: "d" } })),
        put(path, changed(object, { name: "other" })),
        put(path, changed(object, { name: "" })),
        put(path, changed(object, { namespace: "other" })),
        put(path, changed(object, { creationTimestamp: "2001-01-01T00:00:00Z", labels: { group, a: "e" } })),
        put(path, changed(object, { finalizers: ["bad name"] })),
        put(path, changed(object, { labels: { a: "not ok" } })),
        put(`${path}?dryRun=All`, changed(object, { labels: { group, a: "f" } })),
        put(`${path}?dryRun=Some`, object),
        put(`${path}?dryRun=`, object),
        put(`${path}?fieldManager=${"x".repeat(129)}`, object),
        put(`${path}?fieldValidation=Strict`, { ...object, unknown: 1 }),
        put(`${path}?fieldValidation=Sometimes`, object),
        put(path, "{"),
        put(path, { ...object, kind: "Deployment" }),
        get(path),
      ],
    };
  }
  {
    const { path, object, name } = next();
    const labels = (value: unknown) => ({ metadata: { labels: { p: value } } });
    yield {
      name: "patches",
      steps: [
        patch(path, MERGE_PATCH, labels("0")),
        post(collection, object),
        patch(path, MERGE_PATCH, labels("1")),
        patch(path, MERGE_PATCH, labels("1")),
        patch(path, MERGE_PATCH, labels(null)),
        patch(path, MERGE_PATCH, labels(5)),
        patch(path, MERGE_PATCH, labels("not ok")),
        patch(path, MERGE_PATCH, {}),
        patch(path, MERGE_PATCH, "null"),
        patch(path, MERGE_PATCH, "[]"),
        patch(path, MERGE_PATCH, "{"),
        patch(path, MERGE_PATCH, ""),
        patch(path, MERGE_PATCH, { metadata: { name: "other" } }),
        patch(path, MERGE_PATCH, { metadata: { uid: "other" } }),
        patch(path, MERGE_PATCH, { metadata: { resourceVersion: "1" } }),
        patch(path, MERGE_PATCH, { kind: "Other" }),
        patch(path, MERGE_PATCH, { apiVersion: "v7" }),
        patch(path, MERGE_PATCH, { unknown: 1 }),
        patch(`${path}?fieldValidation=Strict`, MERGE_PATCH, { unknown: 1, metadata: { unknown: 2 } }),
        patch(`${path}?fieldValidation=Ignore`, MERGE_PATCH, { unknown: 1 }),
        patch(path, STRATEGIC_PATCH, labels("2")),
        patch(path, STRATEGIC_PATCH, { metadata: { labels: { $patch: "replace", group } } }),
        patch(path, STRATEGIC_PATCH, { metadata: { $patch: "delete" } }),
        patch(path, STRATEGIC_PATCH, { metadata: { labels: { $patch: "other" } } }),
        patch(path, STRATEGIC_PATCH, { metadata: { finalizers: ["a/b"] } }),
        patch(path, STRATEGIC_PATCH, { metadata: { "$deleteFromPrimitiveList/finalizers": ["a/b"] } }),
        patch(path, STRATEGIC_PATCH, { unknown: 1 }),
        patch(path, STRATEGIC_PATCH, "[]"),
        patch(path, STRATEGIC_PATCH, { metadata: { labels: "x" } }),
        patch(path, JSON_PATCH, [{ op: "test", path: "/metadata/name", value: name }]),
        patch(path, JSON_PATCH, [{ op: "test", path: "/metadata/name", value: "other" }]),
        patch(path, JSON_PATCH, [{ op: "remove", path: "/metadata/nothing" }]),
        patch(path, JSON_PATCH, [{ op: "replace", path: "/nothing/at/all", value: 1 }]),
        patch(path, JSON_PATCH, [{ op: "other", path: "/metadata/name" }]),
        patch(path, JSON_PATCH, [{ path: "/metadata/name" }]),
        patch(path, JSON_PATCH, [{ op: "add", path: "metadata", value: 1 }]),
        patch(path, JSON_PATCH, [{ op: "move", from: "/metadata/labels", path: "/metadata/annotations" }]),
        patch(path, JSON_PATCH, [{ op: "copy", from: "/metadata/annotations", path: "/metadata/labels" }]),
        patch(path, JSON_PATCH, [{ op: "remove", path: "/metadata" }]),
        patch(path, JSON_PATCH, {}),
        patch(path, JSON_PATCH, []),
        patch(path, JSON_PATCH, "["),
        patch(`${path}?dryRun=All`, JSON_PATCH, kind.change),
        patch(`${path}?force=true`, JSON_PATCH, kind.change),
        patch(path, "application/json", {}),
        patch(path, "text/plain", {}),
        patch(path, "", {}),
        patch(path, `${MERGE_PATCH}; charset=utf-8`, labels("3")),
        get(path),
      ],
    };
  }
  {
    const { path, object } = next();
    const { path: none, object: noObject } = next();
    const apply = (query: string, body: unknown) => ({ ...patch(`${path}${query}`, APPLY_PATCH, body), managed: true as const });
    yield {
      name: "apply",
      steps: [
        apply("?fieldManager=one", object),
        apply("?fieldManager=one", object),
        apply("?fieldManager=two", changed(object, { labels: { group, two: "2" } })),
        apply("?fieldManager=two", changed(object, { labels: { group: "other" } })),
        apply("?fieldManager=two&force=true", changed(object, { labels: { group: "other" } })),
        apply("", object),
        apply("?fieldManager=one&force=maybe", object),
        apply("?fieldManager=one", changed(object, { managedFields: [] })),
        apply("?fieldManager=one", changed(object, { managedFields: [{ manager: "x" }] })),
        apply("?fieldManager=one", changed(object, { name: "other" })),
        apply("?fieldManager=one", { ...object, apiVersion: "v9" }),
        apply("?fieldManager=one", { ...object, kind: "Other" }),
        apply("?fieldManager=one", { metadata: object.metadata }),
        apply("?fieldManager=one", { ...object, unknown: 1 }),
        apply("?fieldManager=one&fieldValidation=Strict", { ...object, unknown: 1 }),
        apply("?fieldManager=one", "a: b: c"),
        apply("?fieldManager=one", "[]"),
        apply("?fieldManager=one&dryRun=All", changed(object, { labels: { group, dry: "run" } })),
        apply("?fieldManager=one", changed(object, { resourceVersion: "1" })),
        patch(`${none}?fieldManager=one`, APPLY_PATCH, changed(noObject, { uid: "given" })),
        patch(`${none}?fieldManager=one&dryRun=All`, APPLY_PATCH, noObject),
        get(none),
      ],
    };
  }
  {
    const { path, object, uid, rv } = next({ finalizers: ["example.com/stay"] });
    yield {
      name: "deletes",
      steps: [
        remove(path),
        post(collection, object),
        remove(`${path}?dryRun=All`),
        remove(path, { preconditions: { uid: "other" } }),
        remove(path, { preconditions: { resourceVersion: "1" } }),
        remove(path, { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid, resourceVersion: rv }, dryRun: ["All"] }),
        remove(path, { kind: "Other", apiVersion: "v1" }),
        remove(path, { apiVersion: "v7" }),
        remove(path, { propagationPolicy: "Sometimes" }),
        remove(path, { propagationPolicy: "Orphan", orphanDependents: true }),
        remove(path, { gracePeriodSeconds: -1, dryRun: ["All"] }),
        remove(path, { gracePeriodSeconds: "x" }),
        remove(path, { dryRun: ["Some"] }),
        remove(path, { unknown: 1, dryRun: ["All"] }),
        remove(path, "{"),
        remove(path, "[]"),
        remove(path, "null"),
        remove(`${path}?gracePeriodSeconds=x`),
        remove(`${path}?propagationPolicy=Sometimes`),
        remove(`${path}?dryRun=All&gracePeriodSeconds=0`),
        remove(`${path}?orphanDependents=maybe`),
        get(path),
        remove(path),
        remove(path),
        put(path, changed(object, { finalizers: ["example.com/stay", "example.com/more"] })),
        patch(path, JSON_PATCH, [{ op: "remove", path: "/metadata/finalizers" }]),
        get(path),
        post(collection, object),
        patch(path, MERGE_PATCH, { metadata: { finalizers: null } }),
        remove(path, { propagationPolicy: "Background" }),
      ],
    };
  }
  yield {
    name: "lists",
    steps: (() => {
      const list = next({ labels: { list: group, tier: "a" } });
      const second = next({ labels: { list: group, tier: "b" } });
      const third = next({ labels: { list: group } });
      const mine = `${collection}?labelSelector=list%3D${group}`;
      return [
        get(mine),
        post(collection, list.object),
        post(collection, second.object),
        post(collection, third.object),
        get(mine),
        get(mine, TABLE),
        get(`${mine}&includeObject=None`, TABLE),
        get(`${mine}&includeObject=Object`, TABLE),
        get(`${mine}&includeObject=Other`, TABLE),
        get(mine, PARTIAL_LIST),
        get(`${mine}&limit=2`),
        get(`${mine}&limit=2&continue=$(continue)`),
        get(`${mine}&limit=2&continue=$(continue)&resourceVersion=5`),
        get(`${mine}&continue=x`),
        get(`${mine}&limit=-1`),
        get(`${mine}&limit=x`),
        get(`${mine},tier`),
        get(`${mine},!tier`),
        get(`${mine},tier+in+(a,c)`),
        get(`${mine},tier+notin+(a)`),
        get(`${mine},tier!%3Da`),
        get(`${collection}?labelSelector=a+b`),
        get(`${collection}?labelSelector=a%3D%3D%3Db`),
        get(`${collection}?labelSelector=-a`),
        get(`${collection}?labelSelector=a%3Dnot+ok`),
        get(`${mine}&fieldSelector=metadata.name%3D${list.name}`),
        get(`${mine}&fieldSelector=metadata.name!%3D${list.name}`),
        get(`${mine}&fieldSelector=metadata.namespace%3D$NS`),
        get(`${mine}&fieldSelector=metadata.uid%3Dx`),
        get(`${mine}&fieldSelector=spec.nothing%3Dx`),
        get(`${mine}&fieldSelector=metadata.name`),
        get(`${mine}&fieldSelector=metadata.name+in+(a)`),
        get(`${mine}&resourceVersion=0`, PARTIAL_LIST),
        get(`${mine}&resourceVersion=x`),
        get(`${mine}&resourceVersion=-1`),
        get(`${mine}&resourceVersionMatch=Exact`),
        get(`${mine}&resourceVersionMatch=Exact&resourceVersion=0`),
        get(`${mine}&resourceVersionMatch=Other&resourceVersion=1`),
        get(`${mine}&resourceVersionMatch=NotOlderThan&resourceVersion=1`, PARTIAL_LIST),
        get(`${mine}&resourceVersionMatch=NotOlderThan`),
        get(`${mine}&sendInitialEvents=true`),
        get(`${mine}&timeoutSeconds=x`),
        get(`${mine}&pretty=maybe`, PARTIAL_LIST),
        get(`${mine}&unknown=1&limit=1`, PARTIAL_LIST),
        watch(`${mine}&watch=maybe`, 3, PARTIAL),
        get(mine, "text/html"),
        get(mine, "application/json;as=Other;v=v1;g=meta.k8s.io"),
        get(mine, "application/json;as=Table;v=v9;g=meta.k8s.io"),
        get(mine, "application/json;as=Table;v=v1;g=other.k8s.io"),
        get(mine, "application/json;as=Table;v=v1beta1;g=meta.k8s.io"),
        get(mine, `text/html, ${TABLE}, application/json`),
        get(mine, "*/*"),
        get(mine, "application/*"),
        get(mine, ""),
        watch(`${mine}&watch=true`, 3),
        watch(`${mine}&watch=1&resourceVersion=0`, 3, PARTIAL),
        watch(`${mine}&watch=1`, 3, TABLE),
        watch(`${mine}&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`, 4, PARTIAL),
        get(`${mine}&watch=1&sendInitialEvents=true`),
        get(`${mine}&watch=1&sendInitialEvents=true&resourceVersionMatch=Exact`),
        get(`${mine}&watch=1&resourceVersionMatch=NotOlderThan`),
        get(`${mine}&watch=1&resourceVersion=x`),
        get(`${mine}&watch=1&timeoutSeconds=x`),
        watch(`${mine}&watch=1&limit=1`, 3, PARTIAL),
        watch(`${mine}&watch=1&continue=x`, 3, PARTIAL),
        get(`${mine}&watch=1&fieldSelector=spec.nothing%3Dx`),
        watch(`${mine}&watch=1&fieldSelector=metadata.name%3D${second.name}`, 1, PARTIAL),
        watch(`${collection.replace(rootOf(kind), `${rootOf(kind)}/watch`)}/${second.name}`, 1, PARTIAL),
        watch(`${collection.replace(rootOf(kind), `${rootOf(kind)}/watch`)}?labelSelector=list%3D${group}`, 3, PARTIAL),
        get(`${rootOf(kind)}/${kind.resource}?labelSelector=list%3D${group}`, PARTIAL_LIST),
        ...(kind.kind === "Namespace"
          ? [remove(mine)]
          : [
              remove(`${mine}&dryRun=All`),
              remove(`${mine}&fieldSelector=spec.nothing%3Dx`),
              remove(mine, { propagationPolicy: "Sometimes" }),
              remove(`${mine}&limit=1`),
              get(mine, PARTIAL_LIST),
              remove(`${mine},tier%3Db`),
              remove(mine),
              get(mine, PARTIAL_LIST),
            ]),
      ];
    })(),
  };
  {
    const { path, object } = next();
    yield {
      name: "subresources and methods",
      steps: [
        post(collection, object),
        get(`${path}/status`),
        put(`${path}/status`, object),
        put(`${path}/status`, changed(object, { labels: { group, by: "status" } })),
        put(`${path}/status`, changed(object, { name: "other" })),
        patch(`${path}/status`, MERGE_PATCH, { metadata: { labels: { group, status: "x" } } }),
        patch(`${path}/status`, MERGE_PATCH, { status: { conditions: "x" } }),
        patch(`${path}/status`, MERGE_PATCH, { status: { unknown: "x" } }),
        patch(`${path}/status?fieldManager=s`, APPLY_PATCH, { apiVersion: kind.apiVersion, kind: kind.kind, metadata: {}, status: {} }),
        post(`${path}/status`, object),
        remove(`${path}/status`),
        get(`${path}/scale`),
        put(`${path}/scale`, {}),
        get(`${path}/nothing`),
        get(`${path}/status/x`),
        get(`${path}/`),
        post(path, object),
        put(collection, object),
        patch(collection, MERGE_PATCH, {}),
        { method: "PROPFIND", path },
        { method: "OPTIONS", path },
        { method: "OPTIONS", path: collection },
        get(`${path}?pretty=true`, "application/yaml"),
        get(`${path}?resourceVersion=0`, PARTIAL),
        get(`${path}?resourceVersion=x`),
        get(`${path}?resourceVersion=-5`),
        get(path, "text/html"),
        get(path, "application/json;as=Other;v=v1;g=meta.k8s.io"),
        get(`${path}?watch=1`, PARTIAL),
        remove(path),
      ],
    };
  }
  yield alone("create elsewhere", post(collection.replace("$NS", "no-such-namespace"), next().object));
  yield alone("read elsewhere", get(`${collection.replace("$NS", "no-such-namespace")}/x`));
  yield alone("list elsewhere", get(`${collection.replace("$NS", "no-such-namespace")}?labelSelector=a%3Db`));
  yield alone("create at the root", post(`${rootOf(kind)}/${kind.resource}?dryRun=All`, next().object));
  yield alone("protobuf type of a JSON body", post(collection, next().object, "application/vnd.kubernetes.protobuf"));
  yield alone("plain type", post(collection, next().object, "text/plain"));
  yield alone("no type", post(`${collection}?dryRun=All`, next().object, ""));
  yield alone("type with a charset", post(`${collection}?dryRun=All`, next().object, "application/json; charset=latin1"));
  yield alone("a broken type", post(collection, next().object, "application/json; ;;"));
  yield alone("YAML", post(`${collection}?dryRun=All`, next().object, "application/yaml"));
  yield alone("broken YAML", post(collection, "a: [b", "application/yaml"));
}
