/** Which job does which action of the plan. */
import type { JobContext } from "./job-context";
import type { Action } from "./job-plan";
import type { JobOutcome } from "./job-runner";
import { configureOwner } from "./jobs/configure";
import { copyRows } from "./jobs/copy-rows";
import { createDefault } from "./jobs/create-default";
import { deleteObject } from "./jobs/delete";
import { dropClaims } from "./jobs/drop-claims";
import { extendDefault } from "./jobs/extend-default";
import { handOver } from "./jobs/hand-over";
import { restoreFinalizer } from "./jobs/restore-finalizer";
import { seedOwner } from "./jobs/seed";
import { showDelayed } from "./jobs/show-delayed";
import { showReady } from "./jobs/show-ready";

export function performAction(context: JobContext, action: Action): Promise<JobOutcome> {
  switch (action.kind) {
    case "createDefault":
      return createDefault(context);
    case "extendDefault":
      return extendDefault(context, action.cidr);
    case "configure":
      return configureOwner(context, action);
    case "seed":
      return seedOwner(context, action.uid);
    case "restoreFinalizer":
      return restoreFinalizer(context, action.cidr);
    case "showReady":
      return showReady(context, action.cidr);
    case "handOver":
      return handOver(context, action.uid, () => context.view().isLeaving(action.uid));
    case "copyRows":
      return copyRows(context, action);
    case "showDelayed":
      return showDelayed(context, action.cidr);
    case "delete":
      return deleteObject(context, action.cidr);
    case "dropClaims":
      return dropClaims(context, action.uid);
  }
}
