/**
 * Reads JARs by their directory with verification on, as class paths do: java ArchiveReader [-root ROOT.pem] JAR…
 * Who signed is said whatever their chains are worth; with -root each signer's chain is checked too, as of now.
 */

import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.CodeSigner;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidator;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

final class ArchiveReader {
  private static final String CODE_SIGNING = "1.3.6.1.5.5.7.3.3";

  public static void main(String[] arguments) throws Exception {
    boolean judging = arguments.length > 1 && arguments[0].equals("-root");
    X509Certificate root = judging ? certificate(arguments[1]) : null;
    try (Report report = new Report()) {
      for (int index = judging ? 2 : 0; index < arguments.length; index++) read(arguments[index], root, report);
    }
  }

  private static void read(String path, X509Certificate root, Report report) {
    report.about(path);
    int entries = 0;
    Set<CodeSigner> signers = new LinkedHashSet<>();
    try (JarFile jar = new JarFile(new File(path), true)) {
      sayManifest(jar.getManifest(), report);
      for (JarEntry entry : Collections.list(jar.entries())) {
        boolean content = Report.isContent(entry.getName());
        if (content) entries++;
        try (InputStream in = jar.getInputStream(entry)) {
          Report.readAll(in);
          if (!content) continue;
          report.saySigners(entry.getName(), entry.getCodeSigners());
          if (entry.getCodeSigners() != null) Collections.addAll(signers, entry.getCodeSigners());
        } catch (Exception failure) {
          report.failed(entry.getName(), failure);
        }
      }
      if (root != null) for (CodeSigner signer : signers) sayChain(signer, root, report);
    } catch (Exception failure) {
      report.failed("", failure);
    }
    report.say("entries", String.valueOf(entries));
  }

  private static void sayManifest(Manifest manifest, Report report) {
    report.say("manifest", manifest == null ? "missing" : "found");
    if (manifest == null) return;
    for (Map.Entry<Object, Object> attribute : manifest.getMainAttributes().entrySet()) {
      report.say("attribute", attribute.getKey().toString(), attribute.getValue().toString());
    }
  }

  /** What jarsigner -strict asks of a chain: it leads to the root, is valid now, and its leaf may sign code. */
  private static void sayChain(CodeSigner signer, X509Certificate root, Report report) throws Exception {
    X509Certificate leaf = Report.leafOf(signer);
    String verdict = "good";
    try {
      PKIXParameters parameters = new PKIXParameters(Collections.singleton(new TrustAnchor(root, null)));
      parameters.setRevocationEnabled(false);
      CertPathValidator.getInstance("PKIX").validate(below(root, signer.getSignerCertPath()), parameters);
      List<String> purposes = leaf.getExtendedKeyUsage();
      if (purposes == null || !purposes.contains(CODE_SIGNING)) verdict = "not for code signing";
    } catch (Exception failure) {
      verdict = String.valueOf(failure.getMessage());
    }
    report.say("chain", Report.commonName(leaf), verdict);
  }

  private static CertPath below(X509Certificate root, CertPath chain) throws CertificateException {
    List<Certificate> certificates = new ArrayList<>(chain.getCertificates());
    certificates.remove(root);
    return CertificateFactory.getInstance("X.509").generateCertPath(certificates);
  }

  private static X509Certificate certificate(String file) throws Exception {
    try (InputStream in = new FileInputStream(file)) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
    }
  }
}
