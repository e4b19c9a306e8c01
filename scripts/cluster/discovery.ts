/** The resources of a server, from its discovery documents. */
import type { BackupType } from "../../src/tools/backup/format";
import { UserError } from "../terminal/user-error";
import type { Api } from "./api";

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean; verbs?: string[] }[];
}

/** The resources that can be listed and created, each group in its preferred version. Throws UserError when the server has no discovery. */
export async function servedTypes(api: Api): Promise<BackupType[]> {
  const core = await document<{ versions?: string[] }>(api, "/api");
  const groups = await document<{ groups?: { name: string; preferredVersion?: { version: string } }[] }>(api, "/apis");
  const versions = [
    ...(core.versions ?? []).map((version) => ({ group: "", version })),
    ...(groups.groups ?? []).map(({ name, preferredVersion }) => ({ group: name, version: preferredVersion?.version ?? "v1" })),
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
  return lists.flat();
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
