/** Reads a whole cluster: each type at one moment. Types that share addresses are read again until they agree. */
import { contradictions } from "../../src/tools/backup/addresses";
import type { Backup, BackupSection, BackupType } from "../../src/tools/backup/format";
import { madeByControllers } from "../../src/tools/backup/made-by-controller";
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  inReadingOrder,
  IP_ADDRESSES,
  isBackedUp,
  LEASES,
  SERVICE_CIDRS,
  SERVICES,
  typeName,
} from "../../src/tools/backup/order";
import { MARK } from "../../src/tools/backup/mark";
import type { IPAddress, KubeObject, Service, ServiceCIDR } from "../../src/api/meta/kubernetes";
import { setTimeout as sleep } from "node:timers/promises";
import type { Api } from "../cluster/api";
import { servedTypes, typePath } from "../cluster/discovery";
import { printJson } from "../../src/core/encoding/exact-json";
import { UserError } from "../terminal/user-error";
import type { Progress } from "../terminal/progress";

/** Types that are read again together while they contradict each other. */
const SHARING = [SERVICES, IP_ADDRESSES, SERVICE_CIDRS];
/** Types of which controllers or servers make some objects. */
const MADE = [ENDPOINT_SLICES, ENDPOINTS, LEASES];
const READINGS_MAX = 5;
const READ_AGAIN_MS = 1_000;

export interface BackupTask {
  api: Api;
  progress: Progress;
}

export interface TakenBackup extends Omit<Backup, "sha256"> {
  /** contradictions about addresses that the cluster itself shows; the backup keeps them */
  wrong: string[];
}

export async function takeBackup({ api, progress }: BackupTask): Promise<TakenBackup> {
  const version = await api.get("/version");
  if (version.code !== 200) throw new UserError(`${api.url} is no Kubernetes API server: /version answers ${version.code}`);
  const served = await servedTypes(api);
  const types = inReadingOrder(served.filter(isBackedUp));
  const sections = new Map<string, BackupSection>();
  const read = async (type: BackupType): Promise<void> => {
    progress.show(`reading ${type.resource}`, sections.size, types.length);
    sections.set(typeName(type), await readSection(api, type));
  };
  for (const type of types) await read(type);
  let wrong = contradictionsIn(sections);
  for (let reading = 1; wrong.length > 0 && reading < READINGS_MAX; reading++) {
    await sleep(READ_AGAIN_MS);
    for (const type of types) if (SHARING.includes(typeName(type))) await read(type);
    wrong = contradictionsIn(sections);
  }
  const isMade = madeByControllers((sections.get(SERVICES)?.objects ?? []).map((text) => JSON.parse(text) as Service));
  progress.clear();
  const heads = new Map([...sections].map(([name, { resourceVersion }]) => [name, resourceVersion]));
  for (const type of served) if (!isBackedUp(type)) heads.set(typeName(type), await api.newestRevision(typePath(type)));
  return {
    header: {
      createdAt: new Date(api.now()).toISOString(),
      server: api.url,
      serverVersion: String((version.object as { gitVersion?: unknown }).gitVersion),
      heads: Object.fromEntries([...heads].filter(([, head]) => head !== "")),
    },
    sections: [...sections.values()].map((section) => without(section, isMade)),
    wrong,
  };
}

async function readSection(api: Api, type: BackupType): Promise<BackupSection> {
  const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
  const list = await api.listWhole(typePath(type), (object) => {
    // The mark of an unfinished restore belongs to this cluster alone.
    if (typeName(type) === LEASES && object.metadata?.namespace === MARK.namespace && object.metadata.name === MARK.name) return [];
    return [printJson({ ...object, apiVersion, kind: type.kind })];
  });
  if (!list) throw new UserError(`${api.url} serves no ${typeName(type)} any more`);
  return { type, resourceVersion: list.resourceVersion, objects: list.items.flat() };
}

/** The Services that say what controllers make are read last. */
function without({ type, resourceVersion, objects }: BackupSection, isMade: ReturnType<typeof madeByControllers>): BackupSection {
  const isKept = (text: string): boolean => !isMade(type, JSON.parse(text) as KubeObject);
  return { type, resourceVersion, objects: MADE.includes(typeName(type)) ? objects.filter(isKept) : objects };
}

function contradictionsIn(sections: ReadonlyMap<string, BackupSection>): string[] {
  const [services, ipAddresses, serviceCIDRs] = SHARING.map((name) =>
    sections.get(name)?.objects.map((text) => JSON.parse(text) as KubeObject),
  );
  if (!services || !ipAddresses || !serviceCIDRs) return [];
  return contradictions(services as Service[], ipAddresses as IPAddress[], serviceCIDRs as ServiceCIDR[]);
}
