/** ServiceAccounts (upstream pkg/registry/core/serviceaccount, pkg/apis/core/validation ValidateServiceAccount). */
import type { ServiceAccount, TokenRequest } from "../../meta/kubernetes";
import { TokenRequestSchema } from "../../schema/kinds/authentication";
import { ServiceAccountSchema } from "../../schema/kinds/core-service-accounts";
import { BASE_STRATEGY } from "../base-strategy";
import { AGE_COLUMN, NAME_COLUMN, ageOf, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineAction, defineResource } from "../resource";

const ENFORCE_MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets";
const ENFORCE_WARNING = `metadata.annotations[${ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;

/** Keeps nothing but the name of each reference to a Secret (cleanSecretReferences). */
function keepNamesOfSecrets({ secrets }: ServiceAccount): void {
  secrets?.forEach(({ name }, i) => (secrets[i] = name === undefined ? {} : { name }));
}

function enforces({ metadata }: ServiceAccount): boolean {
  return metadata?.annotations?.[ENFORCE_MOUNTABLE_SECRETS] !== undefined;
}

/** Upstream pkg/registry/core/serviceaccount/storage/token.go. */
const tokenAction = defineAction<ServiceAccount, TokenRequest>({
  name: "token",
  group: "authentication.k8s.io",
  version: "v1",
  kind: "TokenRequest",
  otherVersions: [],
  schema: TokenRequestSchema,
  description: "Makes a token of the ServiceAccount.",
  effect: { does: "answer", answer: "token-request" },
});

export const serviceAccountsDefinition = defineResource<ServiceAccount>({
  ...COMMON,
  group: "",
  versions: ["v1"],
  resource: "serviceaccounts",
  singular: "serviceaccount",
  kind: "ServiceAccount",
  shortNames: ["sa"],
  actions: [tokenAction],
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
