/** Every kind that has a schema. */
import { SelfSubjectReviewSchema, TokenRequestSchema, TokenReviewSchema } from "../../../../src/api/schema/authentication";
import {
  LocalSubjectAccessReviewSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
} from "../../../../src/api/schema/authorization";
import { LeaseSchema } from "../../../../src/api/schema/coordination";
import { BindingSchema } from "../../../../src/api/schema/core-bindings";
import { EndpointsSchema } from "../../../../src/api/schema/core-endpoints";
import { ConfigMapSchema } from "../../../../src/api/schema/core-config-maps";
import { CoreEventSchema } from "../../../../src/api/schema/core-events";
import { NamespaceSchema } from "../../../../src/api/schema/core-namespaces";
import { NodeSchema } from "../../../../src/api/schema/core-nodes";
import { PodTemplateSchema } from "../../../../src/api/schema/core-pod-templates";
import { PodSchema } from "../../../../src/api/schema/core-pods";
import { ResourceQuotaSchema } from "../../../../src/api/schema/core-resource-quotas";
import { SecretSchema } from "../../../../src/api/schema/core-secrets";
import { ServiceAccountSchema } from "../../../../src/api/schema/core-service-accounts";
import { ServiceSchema } from "../../../../src/api/schema/core-services";
import { EndpointSliceSchema } from "../../../../src/api/schema/discovery";
import { EventsEventSchema } from "../../../../src/api/schema/events";
import { DeleteOptionsSchema, StatusSchema } from "../../../../src/api/schema/meta";
import { IPAddressSchema, ServiceCIDRSchema } from "../../../../src/api/schema/networking";
import { EvictionSchema } from "../../../../src/api/schema/policy";
import { ClusterRoleBindingSchema, ClusterRoleSchema, RoleBindingSchema, RoleSchema } from "../../../../src/api/schema/rbac";
import type { MessageSchema } from "../../../../src/api/schema/types";

export const ALL_KINDS: readonly MessageSchema[] = [
  ServiceSchema,
  NamespaceSchema,
  NodeSchema,
  PodSchema,
  PodTemplateSchema,
  ConfigMapSchema,
  ResourceQuotaSchema,
  SecretSchema,
  ServiceAccountSchema,
  BindingSchema,
  EvictionSchema,
  EndpointsSchema,
  CoreEventSchema,
  ServiceCIDRSchema,
  IPAddressSchema,
  LeaseSchema,
  EndpointSliceSchema,
  EventsEventSchema,
  ClusterRoleBindingSchema,
  ClusterRoleSchema,
  RoleBindingSchema,
  RoleSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
  LocalSubjectAccessReviewSchema,
  SelfSubjectReviewSchema,
  TokenReviewSchema,
  TokenRequestSchema,
  StatusSchema,
  DeleteOptionsSchema,
];
