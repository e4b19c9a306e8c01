/** Every kind that has a schema. */
import { SelfSubjectReviewSchema, TokenReviewSchema } from "../../../src/schema/authentication";
import {
  LocalSubjectAccessReviewSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
} from "../../../src/schema/authorization";
import { LeaseSchema } from "../../../src/schema/coordination";
import { EndpointsSchema } from "../../../src/schema/core-endpoints";
import { CoreEventSchema } from "../../../src/schema/core-events";
import { NamespaceSchema } from "../../../src/schema/core-namespaces";
import { NodeSchema } from "../../../src/schema/core-nodes";
import { PodSchema } from "../../../src/schema/core-pods";
import { ServiceSchema } from "../../../src/schema/core-services";
import { EndpointSliceSchema } from "../../../src/schema/discovery";
import { EventsEventSchema } from "../../../src/schema/events";
import { DeleteOptionsSchema, StatusSchema } from "../../../src/schema/meta";
import { IPAddressSchema, ServiceCIDRSchema } from "../../../src/schema/networking";
import type { MessageSchema } from "../../../src/schema/types";

export const ALL_KINDS: readonly MessageSchema[] = [
  ServiceSchema,
  NamespaceSchema,
  NodeSchema,
  PodSchema,
  EndpointsSchema,
  CoreEventSchema,
  ServiceCIDRSchema,
  IPAddressSchema,
  LeaseSchema,
  EndpointSliceSchema,
  EventsEventSchema,
  SelfSubjectAccessReviewSchema,
  SelfSubjectRulesReviewSchema,
  SubjectAccessReviewSchema,
  LocalSubjectAccessReviewSchema,
  SelfSubjectReviewSchema,
  TokenReviewSchema,
  StatusSchema,
  DeleteOptionsSchema,
];
