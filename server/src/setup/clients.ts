import { isUsable } from '../http/sign-request.ts';
import type { Operation } from '../records/audit.ts';
import type { Client, NewClient } from '../records/rows.ts';
import type { Address } from './address.ts';
import { type MakingData, restoreChainFiles } from './certificates.ts';
import { credentialVariables, give, newCredentials, type Receiver, type Variable } from './credentials.ts';

type StoredData = Pick<MakingData, 'store' | 'folder'>;
type Restrictions = Omit<NewClient, 'id' | 'accessKey' | 'secretDigest'>;

export const UNRESTRICTED: Restrictions = {
  ...{ name: undefined, certificates: undefined, algorithms: undefined, quota: undefined },
  ...{ monthlyQuota: undefined, expiresAt: undefined },
};

/** Adds a client, and shows the client's environment. @returns the access key */
export async function addClient(
  data: StoredData,
  restrictions: Restrictions,
  {
    address,
    receiver,
    operation,
  }: { readonly address: Address; readonly receiver: Receiver; readonly operation: Operation },
): Promise<string> {
  const { accessSecret, ...credentials } = newCredentials('AK');
  const { accessKey } = credentials;
  const service = await serviceVariables(data, restrictions, address, operation.at);
  await give(receiver, [...service, ...credentialVariables(accessKey, accessSecret)], () =>
    data.store.change({ ...operation, target: accessKey }, ({ clients }) =>
      clients.add({ ...restrictions, ...credentials }, operation.at),
    ),
  );
  return accessKey;
}

/** Returns a client's environment variables except the credentials. The user chooses one of several certificates. */
export async function serviceVariables(
  { store, folder }: StoredData,
  client: Pick<Client, 'certificates'>,
  { baseUrl, caFile }: Address,
  now: Date,
): Promise<readonly Variable[]> {
  await restoreChainFiles(store, folder);
  const certificates = (await store.certificates.list()).filter(
    (certificate) => isUsable(certificate, now) && client.certificates?.includes(certificate.number) !== false,
  );
  const commented = certificates.length > 1;
  return [
    { name: 'CODESIGN_BASE_URL', value: baseUrl },
    ...(caFile === undefined ? [] : [{ name: 'CODESIGN_CA_FILE', value: caFile }]),
    ...certificates.flatMap(({ number }) => [
      { name: 'CODESIGN_CODE', value: number, commented },
      { name: 'CODESIGN_CERTIFICATE', value: folder.certificate(number), commented },
    ]),
  ];
}
