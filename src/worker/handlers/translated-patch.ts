/**
 * A patch speaks of the object as it is served, so for a resource that is another representation of a stored one (events.k8s.io
 * events) it is applied here: read, translate, patch, translate back, write on the condition that nothing changed meanwhile.
 */
import { err, type Result } from "../../base/result";
import type { KubeObject } from "../../meta/kubernetes";
import { patched } from "../../store/patched";
import { shownText, storedForm } from "../answer";
import type { ResourceRequest } from "../resource-request";
import type { PatchRequest } from "./patch";
import { read } from "./read";
import { type Refusal, write, type Written } from "./write";

/** Upstream gives up after as many conflicts in a row. */
const ATTEMPTS_MAX = 5;

export async function translatedPatch(request: ResourceRequest, wanted: PatchRequest): Promise<Result<Written, Refusal>> {
  const { definition } = request.info;
  for (let attempt = 1; ; attempt++) {
    const stored = await read(request, "");
    if (!stored.ok) return err({ status: stored.error, warnings: [] });
    const data = shownText(definition, stored.value);
    const metadata = (JSON.parse(data) as KubeObject).metadata ?? {};
    const revision = metadata.resourceVersion ?? "";
    const current = { key: `${wanted.key.namespace}/${wanted.key.name}`, uid: metadata.uid ?? "", revision: Number(revision), data };
    const result = patched(wanted, current, definition);
    if (!result.ok) return err({ status: result.error, warnings: [] });
    const { object, warnings } = result.value;
    const asked = object.metadata?.resourceVersion;
    const next: KubeObject = { ...object, metadata: { ...object.metadata, resourceVersion: asked || revision } };
    const written = await write(request, {
      verb: "update",
      key: wanted.key,
      subresource: wanted.subresource,
      object: JSON.stringify(storedForm(definition, next)),
      options: wanted.options,
    });
    if (written.ok) return { ok: true, value: { ...written.value, warnings: [...warnings, ...written.value.warnings] } };
    const lostRace = written.error.status.reason === "Conflict" && (!asked || asked === revision);
    if (!lostRace || attempt === ATTEMPTS_MAX) return err({ ...written.error, warnings: [...warnings, ...written.error.warnings] });
  }
}
