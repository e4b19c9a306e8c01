/** ServiceAccounts (upstream pkg/registry/core/serviceaccount, pkg/apis/core/validation ValidateServiceAccount). */
import type { ServiceAccount } from "../../meta/kubernetes";
import { ServiceAccountSchema } from "../../schema/core-service-accounts";
import { BASE_STRATEGY } from "../base-strategy";
import { AGE_COLUMN, NAME_COLUMN, ageOf, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";

const ENFORCE_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets";
const ENFORCE_WARNING = `metadata.annotations[${ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

/** Of a reference to a Secret only the name is kept (cleanSecretReferences). */
function keepNamesOfSecrets({ secrets }: ServiceAccount): void {
  secrets?.forEach(({ name }, i) => (secrets[i] = name === undefined ? {} : { name }));
}

function enforces({ metadata }: ServiceAccount): boolean {
  return metadata?.annotations?.[ENFORCE_MOUNTABLE_SECRETS] !== undefined;
}

export const serviceAccountsDefinition = defineResource<ServiceAccount>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "serviceaccounts",
  singular: "serviceaccount",
  kind: "ServiceAccount",
  shortNames: ["sa"],
  schema: ServiceAccountSchema,
  columns: [NAME_COLUMN, AGE_COLUMN],
  cells: (account, now) => [nameOf(account), ageOf(account, now)],
  strategy: {
    ...BASE_STRATEGY,
    prepareForCreate: keepNamesOfSecrets,
    prepareForUpdate: ({ after }) => keepNamesOfSecrets(after),
    warnings: (account: ServiceAccount, before?: ServiceAccount) =>
      enforces(account) && !(before && enforces(before)) ? [ENFORCE_WARNING] : [],
  },
  returnsDeletedObject: true,
});
