/**
 * core/v1 volumes of a Pod, their sources and the claim templates they embed (k8s.io/api core/v1, v0.36).
 */
import { LocalObjectReference, TypedLocalObjectReference } from "./core-references";
import { LabelSelector, ObjectMeta } from "./meta";
import { always, bool, enumOf, inline, int32, int64, listOf, mapOf, message, plain, pointer, quantity, ref, required, string } from "./dsl";
import type { MessageSchema } from "./types";

const HostPathVolumeSource: MessageSchema = message("io.k8s.api.core.v1.HostPathVolumeSource", {
  path: required(1, string),
  type: pointer(2, string),
});

const EmptyDirVolumeSource: MessageSchema = message("io.k8s.api.core.v1.EmptyDirVolumeSource", {
  medium: plain(1, string),
  sizeLimit: pointer(2, quantity),
});

const GCEPersistentDiskVolumeSource: MessageSchema = message("io.k8s.api.core.v1.GCEPersistentDiskVolumeSource", {
  pdName: required(1, string),
  fsType: plain(2, string),
  partition: plain(3, int32),
  readOnly: plain(4, bool),
});

const AWSElasticBlockStoreVolumeSource: MessageSchema = message("io.k8s.api.core.v1.AWSElasticBlockStoreVolumeSource", {
  volumeID: required(1, string),
  fsType: plain(2, string),
  partition: plain(3, int32),
  readOnly: plain(4, bool),
});

const GitRepoVolumeSource: MessageSchema = message("io.k8s.api.core.v1.GitRepoVolumeSource", {
  repository: required(1, string),
  revision: plain(2, string),
  directory: plain(3, string),
});

const KeyToPath: MessageSchema = message("io.k8s.api.core.v1.KeyToPath", {
  key: required(1, string),
  path: required(2, string),
  mode: pointer(3, int32),
});

const SecretVolumeSource: MessageSchema = message("io.k8s.api.core.v1.SecretVolumeSource", {
  secretName: plain(1, string),
  items: plain(2, listOf(ref(KeyToPath))),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});

const NFSVolumeSource: MessageSchema = message("io.k8s.api.core.v1.NFSVolumeSource", {
  server: required(1, string),
  path: required(2, string),
  readOnly: plain(3, bool),
});

const ISCSIVolumeSource: MessageSchema = message("io.k8s.api.core.v1.ISCSIVolumeSource", {
  targetPortal: required(1, string),
  iqn: required(2, string),
  lun: required(3, int32),
  iscsiInterface: plain(4, string, "", { default: "default" }),
  fsType: plain(5, string),
  readOnly: plain(6, bool),
  portals: plain(7, listOf(string)),
  chapAuthDiscovery: plain(8, bool),
  chapAuthSession: plain(11, bool),
  secretRef: pointer(10, ref(LocalObjectReference)),
  initiatorName: pointer(12, string),
});

const GlusterfsVolumeSource: MessageSchema = message("io.k8s.api.core.v1.GlusterfsVolumeSource", {
  endpoints: required(1, string),
  path: required(2, string),
  readOnly: plain(3, bool),
});

const PersistentVolumeClaimVolumeSource: MessageSchema = message("io.k8s.api.core.v1.PersistentVolumeClaimVolumeSource", {
  claimName: required(1, string),
  readOnly: plain(2, bool),
});

const RBDVolumeSource: MessageSchema = message("io.k8s.api.core.v1.RBDVolumeSource", {
  monitors: required(1, listOf(string)),
  image: required(2, string),
  fsType: plain(3, string),
  pool: plain(4, string, "", { default: "rbd" }),
  user: plain(5, string, "", { default: "admin" }),
  keyring: plain(6, string, "", { default: "/etc/ceph/keyring" }),
  secretRef: pointer(7, ref(LocalObjectReference)),
  readOnly: plain(8, bool),
});

const FlexVolumeSource: MessageSchema = message("io.k8s.api.core.v1.FlexVolumeSource", {
  driver: required(1, string),
  fsType: plain(2, string),
  secretRef: pointer(3, ref(LocalObjectReference)),
  readOnly: plain(4, bool),
  options: plain(5, mapOf(string)),
});

const CinderVolumeSource: MessageSchema = message("io.k8s.api.core.v1.CinderVolumeSource", {
  volumeID: required(1, string),
  fsType: plain(2, string),
  readOnly: plain(3, bool),
  secretRef: pointer(4, ref(LocalObjectReference)),
});

const CephFSVolumeSource: MessageSchema = message("io.k8s.api.core.v1.CephFSVolumeSource", {
  monitors: required(1, listOf(string)),
  path: plain(2, string),
  user: plain(3, string),
  secretFile: plain(4, string),
  secretRef: pointer(5, ref(LocalObjectReference)),
  readOnly: plain(6, bool),
});

const FlockerVolumeSource: MessageSchema = message("io.k8s.api.core.v1.FlockerVolumeSource", {
  datasetName: plain(1, string),
  datasetUUID: plain(2, string),
});

export const ObjectFieldSelector: MessageSchema = message(
  "io.k8s.api.core.v1.ObjectFieldSelector",
  {
    apiVersion: plain(1, string),
    fieldPath: required(2, string),
  },
  { atomic: true },
);

export const ResourceFieldSelector: MessageSchema = message(
  "io.k8s.api.core.v1.ResourceFieldSelector",
  {
    containerName: plain(1, string),
    resource: required(2, string),
    divisor: plain(3, quantity),
  },
  { atomic: true },
);

const DownwardAPIVolumeFile: MessageSchema = message("io.k8s.api.core.v1.DownwardAPIVolumeFile", {
  path: required(1, string),
  fieldRef: pointer(2, ref(ObjectFieldSelector)),
  resourceFieldRef: pointer(3, ref(ResourceFieldSelector)),
  mode: pointer(4, int32),
});

const DownwardAPIVolumeSource: MessageSchema = message("io.k8s.api.core.v1.DownwardAPIVolumeSource", {
  items: plain(1, listOf(ref(DownwardAPIVolumeFile))),
  defaultMode: pointer(2, int32),
});

const FCVolumeSource: MessageSchema = message("io.k8s.api.core.v1.FCVolumeSource", {
  targetWWNs: plain(1, listOf(string)),
  lun: pointer(2, int32),
  fsType: plain(3, string),
  readOnly: plain(4, bool),
  wwids: plain(5, listOf(string)),
});

const AzureFileVolumeSource: MessageSchema = message("io.k8s.api.core.v1.AzureFileVolumeSource", {
  secretName: required(1, string),
  shareName: required(2, string),
  readOnly: plain(3, bool),
});

const ConfigMapVolumeSource: MessageSchema = message("io.k8s.api.core.v1.ConfigMapVolumeSource", {
  localObjectReference: inline(1, LocalObjectReference),
  items: plain(2, listOf(ref(KeyToPath))),
  defaultMode: pointer(3, int32),
  optional: pointer(4, bool),
});

const VsphereVirtualDiskVolumeSource: MessageSchema = message("io.k8s.api.core.v1.VsphereVirtualDiskVolumeSource", {
  volumePath: required(1, string),
  fsType: plain(2, string),
  storagePolicyName: plain(3, string),
  storagePolicyID: plain(4, string),
});

const QuobyteVolumeSource: MessageSchema = message("io.k8s.api.core.v1.QuobyteVolumeSource", {
  registry: required(1, string),
  volume: required(2, string),
  readOnly: plain(3, bool),
  user: plain(4, string),
  group: plain(5, string),
  tenant: plain(6, string),
});

const AzureDiskVolumeSource: MessageSchema = message("io.k8s.api.core.v1.AzureDiskVolumeSource", {
  diskName: required(1, string),
  diskURI: required(2, string),
  cachingMode: pointer(3, enumOf("None", "ReadOnly", "ReadWrite"), "", { default: "ReadWrite" }),
  fsType: pointer(4, string, "", { default: "ext4" }),
  readOnly: pointer(5, bool, "", { default: false }),
  kind: pointer(6, enumOf("Shared", "Dedicated", "Managed"), "", { default: "Shared" }),
});

const PhotonPersistentDiskVolumeSource: MessageSchema = message("io.k8s.api.core.v1.PhotonPersistentDiskVolumeSource", {
  pdID: required(1, string),
  fsType: plain(2, string),
});

const SecretProjection: MessageSchema = message("io.k8s.api.core.v1.SecretProjection", {
  localObjectReference: inline(1, LocalObjectReference),
  items: plain(2, listOf(ref(KeyToPath))),
  optional: pointer(4, bool),
});

const DownwardAPIProjection: MessageSchema = message("io.k8s.api.core.v1.DownwardAPIProjection", {
  items: plain(1, listOf(ref(DownwardAPIVolumeFile))),
});

const ConfigMapProjection: MessageSchema = message("io.k8s.api.core.v1.ConfigMapProjection", {
  localObjectReference: inline(1, LocalObjectReference),
  items: plain(2, listOf(ref(KeyToPath))),
  optional: pointer(4, bool),
});

const ServiceAccountTokenProjection: MessageSchema = message("io.k8s.api.core.v1.ServiceAccountTokenProjection", {
  audience: plain(1, string),
  expirationSeconds: pointer(2, int64),
  path: required(3, string),
});

const ClusterTrustBundleProjection: MessageSchema = message("io.k8s.api.core.v1.ClusterTrustBundleProjection", {
  name: pointer(1, string),
  signerName: pointer(2, string),
  labelSelector: pointer(3, ref(LabelSelector)),
  optional: pointer(5, bool),
  path: required(4, string),
});

const PodCertificateProjection: MessageSchema = message("io.k8s.api.core.v1.PodCertificateProjection", {
  signerName: plain(1, string, "", { required: true }),
  keyType: plain(2, string, "", { required: true }),
  maxExpirationSeconds: pointer(3, int32),
  credentialBundlePath: plain(4, string),
  keyPath: plain(5, string),
  certificateChainPath: plain(6, string),
  userAnnotations: plain(7, mapOf(string)),
});

const VolumeProjection: MessageSchema = message("io.k8s.api.core.v1.VolumeProjection", {
  secret: pointer(1, ref(SecretProjection)),
  downwardAPI: pointer(2, ref(DownwardAPIProjection)),
  configMap: pointer(3, ref(ConfigMapProjection)),
  serviceAccountToken: pointer(4, ref(ServiceAccountTokenProjection)),
  clusterTrustBundle: pointer(5, ref(ClusterTrustBundleProjection)),
  podCertificate: pointer(6, ref(PodCertificateProjection)),
});

const ProjectedVolumeSource: MessageSchema = message("io.k8s.api.core.v1.ProjectedVolumeSource", {
  sources: always(1, listOf(ref(VolumeProjection))),
  defaultMode: pointer(2, int32),
});

const PortworxVolumeSource: MessageSchema = message("io.k8s.api.core.v1.PortworxVolumeSource", {
  volumeID: required(1, string),
  fsType: plain(2, string),
  readOnly: plain(3, bool),
});

const ScaleIOVolumeSource: MessageSchema = message("io.k8s.api.core.v1.ScaleIOVolumeSource", {
  gateway: required(1, string),
  system: required(2, string),
  secretRef: pointer(3, ref(LocalObjectReference), "", { required: true }),
  sslEnabled: plain(4, bool),
  protectionDomain: plain(5, string),
  storagePool: plain(6, string),
  storageMode: plain(7, string, "", { default: "ThinProvisioned" }),
  volumeName: plain(8, string),
  fsType: plain(9, string, "", { default: "xfs" }),
  readOnly: plain(10, bool),
});

const StorageOSVolumeSource: MessageSchema = message("io.k8s.api.core.v1.StorageOSVolumeSource", {
  volumeName: plain(1, string),
  volumeNamespace: plain(2, string),
  fsType: plain(3, string),
  readOnly: plain(4, bool),
  secretRef: pointer(5, ref(LocalObjectReference)),
});

const CSIVolumeSource: MessageSchema = message("io.k8s.api.core.v1.CSIVolumeSource", {
  driver: required(1, string),
  readOnly: pointer(2, bool),
  fsType: pointer(3, string),
  volumeAttributes: plain(4, mapOf(string)),
  nodePublishSecretRef: pointer(5, ref(LocalObjectReference)),
});

const VolumeResourceRequirements: MessageSchema = message("io.k8s.api.core.v1.VolumeResourceRequirements", {
  limits: plain(1, mapOf(quantity)),
  requests: plain(2, mapOf(quantity)),
});

const TypedObjectReference: MessageSchema = message("io.k8s.api.core.v1.TypedObjectReference", {
  apiGroup: pointer(1, string),
  kind: required(2, string),
  name: required(3, string),
  namespace: pointer(4, string),
});

const PersistentVolumeClaimSpec: MessageSchema = message("io.k8s.api.core.v1.PersistentVolumeClaimSpec", {
  accessModes: plain(1, listOf(enumOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"))),
  selector: pointer(4, ref(LabelSelector)),
  resources: plain(2, ref(VolumeResourceRequirements)),
  volumeName: plain(3, string),
  storageClassName: pointer(5, string),
  volumeMode: pointer(6, enumOf("Block", "Filesystem")),
  dataSource: pointer(7, ref(TypedLocalObjectReference)),
  dataSourceRef: pointer(8, ref(TypedObjectReference)),
  volumeAttributesClassName: pointer(9, string),
});

const PersistentVolumeClaimTemplate: MessageSchema = message("io.k8s.api.core.v1.PersistentVolumeClaimTemplate", {
  metadata: plain(1, ref(ObjectMeta)),
  spec: required(2, ref(PersistentVolumeClaimSpec)),
});

const EphemeralVolumeSource: MessageSchema = message("io.k8s.api.core.v1.EphemeralVolumeSource", {
  volumeClaimTemplate: pointer(1, ref(PersistentVolumeClaimTemplate)),
});

const ImageVolumeSource: MessageSchema = message("io.k8s.api.core.v1.ImageVolumeSource", {
  reference: plain(1, string),
  pullPolicy: plain(2, enumOf("Always", "Never", "IfNotPresent")),
});

const VolumeSource: MessageSchema = message("io.k8s.api.core.v1.VolumeSource", {
  hostPath: pointer(1, ref(HostPathVolumeSource)),
  emptyDir: pointer(2, ref(EmptyDirVolumeSource)),
  gcePersistentDisk: pointer(3, ref(GCEPersistentDiskVolumeSource)),
  awsElasticBlockStore: pointer(4, ref(AWSElasticBlockStoreVolumeSource)),
  gitRepo: pointer(5, ref(GitRepoVolumeSource)),
  secret: pointer(6, ref(SecretVolumeSource)),
  nfs: pointer(7, ref(NFSVolumeSource)),
  iscsi: pointer(8, ref(ISCSIVolumeSource)),
  glusterfs: pointer(9, ref(GlusterfsVolumeSource)),
  persistentVolumeClaim: pointer(10, ref(PersistentVolumeClaimVolumeSource)),
  rbd: pointer(11, ref(RBDVolumeSource)),
  flexVolume: pointer(12, ref(FlexVolumeSource)),
  cinder: pointer(13, ref(CinderVolumeSource)),
  cephfs: pointer(14, ref(CephFSVolumeSource)),
  flocker: pointer(15, ref(FlockerVolumeSource)),
  downwardAPI: pointer(16, ref(DownwardAPIVolumeSource)),
  fc: pointer(17, ref(FCVolumeSource)),
  azureFile: pointer(18, ref(AzureFileVolumeSource)),
  configMap: pointer(19, ref(ConfigMapVolumeSource)),
  vsphereVolume: pointer(20, ref(VsphereVirtualDiskVolumeSource)),
  quobyte: pointer(21, ref(QuobyteVolumeSource)),
  azureDisk: pointer(22, ref(AzureDiskVolumeSource)),
  photonPersistentDisk: pointer(23, ref(PhotonPersistentDiskVolumeSource)),
  projected: pointer(26, ref(ProjectedVolumeSource)),
  portworxVolume: pointer(24, ref(PortworxVolumeSource)),
  scaleIO: pointer(25, ref(ScaleIOVolumeSource)),
  storageos: pointer(27, ref(StorageOSVolumeSource)),
  csi: pointer(28, ref(CSIVolumeSource)),
  ephemeral: pointer(29, ref(EphemeralVolumeSource)),
  image: pointer(30, ref(ImageVolumeSource)),
});

export const Volume: MessageSchema = message("io.k8s.api.core.v1.Volume", {
  name: required(1, string),
  volumeSource: inline(2, VolumeSource),
});
