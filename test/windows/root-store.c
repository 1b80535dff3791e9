/* root-store.exe add|remove FILE: adds a certificate (DER) to the current user's trusted roots, or removes it. */
#include <windows.h>
#include <wincrypt.h>
#include <wchar.h>

int wmain(int argc, wchar_t **argv) {
  BYTE bytes[65536];
  DWORD length = 0;
  HANDLE file;
  HCERTSTORE store;
  PCCERT_CONTEXT certificate, found;
  if (argc != 3) return 2;
  file = CreateFileW(argv[2], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE || !ReadFile(file, bytes, sizeof bytes, &length, NULL)) return 3;
  certificate = CertCreateCertificateContext(X509_ASN_ENCODING, bytes, length);
  store = CertOpenStore(CERT_STORE_PROV_SYSTEM_REGISTRY_W, 0, 0, CERT_SYSTEM_STORE_CURRENT_USER, L"ROOT");
  if (certificate == NULL || store == NULL) return 4;
  if (wcscmp(argv[1], L"add") == 0)
    return CertAddCertificateContextToStore(store, certificate, CERT_STORE_ADD_ALWAYS, NULL) ? CertCloseStore(store, 0), 0 : 5;
  found = CertFindCertificateInStore(store, X509_ASN_ENCODING, 0, CERT_FIND_EXISTING, certificate, NULL);
  if (found == NULL || !CertDeleteCertificateFromStore(found)) return 6;
  CertCloseStore(store, 0);
  return 0;
}
