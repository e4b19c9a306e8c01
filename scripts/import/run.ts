/**
 * Carries out a plan: namespaces; ServiceCIDRs until they are Ready; Services that name their addresses and ports; IPAddresses of other parents;
 * Services that leave a choice to the server; statuses. Every step may find its work done, so an interrupted import is run again.
 */
import { type DumpDocument, labelOf, readDump } from "../../src/tools/import/dump";
import { differences } from "../../src/tools/import/importable";
import { planImport, type PlannedService } from "../../src/tools/import/plan";
import type { ConflictReason, ImportFinding } from "../../src/tools/import/report";
import type { IPAddress, KubeObject, Namespace, Service, ServiceCIDR } from "../../src/api/meta/kubernetes";
import type { RangesView } from "../../src/addresses/ranges/service-ranges";
import { UserError } from "../terminal/user-error";
import { type Answer, type Api, collectionPath } from "../cluster/api";
import { eachTogether } from "../cluster/each-together";
import { notReady, READY_WAIT_MS } from "../cluster/not-ready";
import type { Progress } from "../terminal/progress";

export interface ImportReport {
  server: string;
  dryRun: boolean;
  /** labels (`Service default/web`) of created objects; in a dry run of those that would be created */
  created: string[];
  present: string[];
  statusesRestored: string[];
  conflicts: ImportFinding[];
  notices: ImportFinding[];
}

interface ImportTask {
  api: Api;
  documents: readonly DumpDocument[];
  dryRun: boolean;
  progress: Progress;
}

export async function runImport({ api, documents, dryRun, progress }: ImportTask): Promise<ImportReport> {
  const dump = readDump(documents);
  const [namespaces, serviceCIDRs, services, ipAddresses] = await Promise.all([
    api.list<Namespace>(collectionPath("Namespace")),
    readRanges(api),
    api.list<Service>(collectionPath("Service")),
    api.listIfServed<IPAddress>(collectionPath("IPAddress")).then((served) => served ?? []),
  ]);
  const names = namespaces.map(({ metadata }) => metadata?.name ?? "");
  const plan = planImport(dump, { namespaces: names, serviceCIDRs, services, ipAddresses });
  const report: ImportReport = {
    server: api.url,
    dryRun,
    created: [],
    present: plan.present,
    statusesRestored: [],
    conflicts: plan.conflicts,
    notices: plan.notices,
  };
  const run = new Run({ api, report, progress, namespaces: new Set(names) });

  await run.all("namespaces", plan.namespaces, (object) => run.create("Namespace", object));
  await run.all("ranges", plan.serviceCIDRs, (object) => run.create("ServiceCIDR", object));
  if (!dryRun) await run.waitForReady(plan.serviceCIDRs);
  const named = plan.services.filter(({ isOpen }) => !isOpen);
  const open = plan.services.filter(({ isOpen }) => isOpen);
  await run.all("services", named, (service) => run.createService(service));
  await run.all("addresses", plan.ipAddresses, (object) => run.create("IPAddress", object));
  await run.all("services", open, (service) => run.createService(service));
  const there = new Set([...report.created, ...report.present]);
  const statuses = plan.statuses.filter((object) => there.has(labelOf("Service", object.metadata)));
  await run.all("statuses", statuses, (object) => run.restoreStatus(object));
  return report;
}

/** The ServiceCIDRs. A server without them (MultiCIDRServiceAllocator is off) has one without a name, with the ranges that it gives out. */
async function readRanges(api: Api): Promise<ServiceCIDR[]> {
  const served = await api.listIfServed<ServiceCIDR>(collectionPath("ServiceCIDR"));
  if (served) return served;
  const { code, object } = await api.get("/ranges");
  if (code !== 200) throw new UserError(`${api.url} serves neither ServiceCIDRs nor /ranges`);
  const { IPv4, IPv6 } = (object as unknown as RangesView).ready;
  const ready = { type: "Ready", status: "True", reason: "", message: "", lastTransitionTime: "" };
  return [{ spec: { cidrs: [...IPv4.prefixes, ...IPv6.prefixes] }, status: { conditions: [ready] } }];
}

interface RunSetting {
  api: Api;
  report: ImportReport;
  progress: Progress;
  /** of the cluster before the import */
  namespaces: ReadonlySet<string>;
}

class Run {
  readonly #setting: RunSetting;

  constructor(setting: RunSetting) {
    this.#setting = setting;
  }

  all<T>(what: string, items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    return eachTogether(what, items, this.#setting.progress, work);
  }

  async create(kind: "Namespace" | "ServiceCIDR" | "IPAddress", object: KubeObject): Promise<void> {
    const { api, report } = this.#setting;
    await this.#settle(kind, object, await api.create(collectionPath(kind), object, { dryRun: report.dryRun }));
  }

  async createService({ object, needsPlannedRange }: PlannedService): Promise<void> {
    const { api, report, namespaces } = this.#setting;
    const namespace = object.metadata?.namespace ?? "";
    const created = { ...object, status: undefined };
    if (!report.dryRun) {
      await this.#settle("Service", object, await api.create(collectionPath("Service", namespace), created));
      return;
    }
    const answer = await (namespaces.has(namespace)
      ? api.create(collectionPath("Service", namespace), created, { dryRun: true })
      : this.#tryElsewhere(created));
    // The plan has judged the addresses in ranges that the server does not know yet; the server judges everything else.
    const isOnlyAddresses = answer.fields.length > 0 && answer.fields.every((field) => /^spec\.(clusterIPs?|ipFamilies)\b/.test(field));
    if (needsPlannedRange && answer.code === 422 && isOnlyAddresses) report.created.push(labelOf("Service", object.metadata));
    else await this.#settle("Service", object, answer);
  }

  /** A dry run in an existing namespace, in place of one that is still to be created. */
  async #tryElsewhere(object: Service): Promise<Answer> {
    const { api } = this.#setting;
    const path = collectionPath("Service", "default");
    const metadata = { ...object.metadata, namespace: "default" };
    const answer = await api.create(path, { ...object, metadata }, { dryRun: true });
    if (answer.reason !== "AlreadyExists") return answer;
    return api.create(path, { ...object, metadata: { ...metadata, name: undefined, generateName: "import-" } }, { dryRun: true });
  }

  async #settle(kind: "Namespace" | "ServiceCIDR" | "IPAddress" | "Service", object: KubeObject, answer: Answer): Promise<void> {
    const { api, report } = this.#setting;
    const label = labelOf(kind, object.metadata);
    for (const message of answer.warnings)
      report.notices.push({ object: label, reason: "Warning", message: `brings the warning: ${message}` });
    if (answer.code < 300) {
      report.created.push(label);
      return;
    }
    if (answer.reason === "AlreadyExists") {
      const stored = await api.get(
        `${collectionPath(kind, object.metadata?.namespace)}/${encodeURIComponent(object.metadata?.name ?? "")}`,
      );
      const different = stored.code === 200 ? differences(object, stored.object) : ["everything"];
      if (different.length === 0) report.created.push(label);
      else
        report.conflicts.push({
          object: label,
          reason: "Different",
          message: `came to be meanwhile, with other values of ${different.join(", ")}`,
        });
      return;
    }
    report.conflicts.push({ object: label, reason: reasonOf(answer), message: `is refused: ${answer.message}` });
  }

  async restoreStatus(object: Service & { status?: unknown }): Promise<void> {
    const { api, report } = this.#setting;
    const label = labelOf("Service", object.metadata);
    if (!report.dryRun) {
      const path = `${collectionPath("Service", object.metadata?.namespace)}/${encodeURIComponent(object.metadata?.name ?? "")}`;
      const answer = await api.patchStatus(path, object.status);
      if (answer.code >= 300) {
        report.conflicts.push({
          object: label,
          reason: reasonOf(answer),
          message: `is there, but its status is refused: ${answer.message}`,
        });
        return;
      }
    }
    report.statusesRestored.push(label);
  }

  /** Services cannot have addresses of a range before that. */
  async waitForReady(objects: readonly ServiceCIDR[]): Promise<void> {
    const { api, report, progress } = this.#setting;
    const names = objects.map(({ metadata }) => metadata?.name ?? "").filter((name) => report.created.includes(`ServiceCIDR ${name}`));
    for (const name of await notReady(api, names, progress))
      report.conflicts.push({
        object: `ServiceCIDR ${name}`,
        reason: "NotReady",
        message: `is not Ready after ${String(READY_WAIT_MS / 1_000)} s`,
      });
  }
}

function reasonOf({ code, message }: Answer): ConflictReason {
  if (message.includes("provided IP is already allocated")) return "AddressTaken";
  if (message.includes("provided port is already allocated")) return "NodePortTaken";
  if (/does not match the current range|The range of valid IPs is/.test(message)) return "OutOfRange";
  return code === 422 || code === 400 ? "Invalid" : "Refused";
}
