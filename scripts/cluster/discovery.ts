/** The resources of a server, from its discovery documents. */
import type { BackupType } from "../../src/tools/backup/format";
import { UserError } from "../terminal/user-error";
import type { Api } from "./api";

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean; verbs?: string[] }[];
}

interface Group {
  name: string;
  preferredVersion?: { version: string };
  versions?: { version: string }[];
}

/**
 * The resources that can be listed and created, each in the preferred version of its group, or in the first one that has it. Throws UserError when the
 * server has no discovery.
 */
export async function servedTypes(api: Api): Promise<BackupType[]> {
  const core = await document<{ versions?: string[] }>(api, "/api");
  const groups = await document<{ groups?: Group[] }>(api, "/apis");
  const versions = [
    ...(core.versions ?? []).map((version) => ({ group: "", version })),
    ...(groups.groups ?? []).flatMap(({ name, preferredVersion, versions: all = [] }) => {
      const preferred = preferredVersion?.version ?? "v1";
      return [...new Set([preferred, ...all.map(({ version }) => version)])].map((version) => ({ group: name, version }));
    }),
  ];
  const lists = await Promise.all(
    versions.map(async ({ group, version }) => {
      const { resources = [] } = await document<ResourceList>(api, pathOf({ group, version }));
      const names = new Set(resources.map(({ name }) => name));
      return resources
        .filter(({ name, verbs = [] }) => !name.includes("/") && verbs.includes("list") && verbs.includes("create"))
        .map(({ name, kind, namespaced }) => ({
          group,
          version,
          resource: name,
          kind,
          namespaced,
          hasStatus: names.has(`${name}/status`),
        }));
    }),
  );
  const known = new Set<string>();
  return lists.flat().filter(({ group, resource }) => {
    const name = `${group}/${resource}`;
    return !known.has(name) && known.add(name);
  });
}

/** The path of all objects of the type, or of those of one namespace. */
export function typePath(type: BackupType, namespace?: string): string {
  return `${pathOf(type)}${namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`}/${type.resource}`;
}

function pathOf({ group, version }: Pick<BackupType, "group" | "version">): string {
  return group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
}

async function document<T>(api: Api, path: string): Promise<T> {
  const { code, object, message } = await api.get(path);
  if (code !== 200) throw new UserError(`${api.url}${path} answers ${code}: ${message}`);
  return object as T;
}
