/**
 * Every convention of test/conformance/conventions.ts over every resource of kube-apiserver, on the real server. Of Clusters and pools a controller writes
 * the status beside each test: they have tests of their own.
 */
import { beforeAll, describe, it } from "vitest";
import { conformingDefinitions, conventionNames, exemption } from "../../conformance/conventions";
import type { ConventionName } from "../../conformance/conventions";
import { clusterForTests, NODES_ARE_NAMES } from "../../support/server/cluster-for-tests";
import { Api } from "../../support/clients/api";
import { reading } from "./matrix/reading";
import { Subject } from "./matrix/subject";
import type { Check } from "./matrix/subject";
import { watching } from "./matrix/watching";
import { writing } from "./matrix/writing";

const checks: Record<ConventionName, Check> = { ...writing, ...reading, ...watching };

const cluster = clusterForTests({ ...NODES_ARE_NAMES, name: "default" });
const subjects = conformingDefinitions.map((definition, index) => new Subject(definition, () => cluster.url, index));

beforeAll(async () => {
  const api = new Api(() => cluster.url);
  await Promise.all(subjects.map(({ namespace }) => api.must("POST", "/api/v1/namespaces", { body: { metadata: { name: namespace } } })));
});

describe.each(conventionNames)("%s", (name) => {
  for (const subject of subjects) {
    if (exemption(name, subject.definition) === undefined) it.concurrent(subject.qualified, () => checks[name](subject));
  }
});
