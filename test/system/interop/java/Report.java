/** What the readers say, for a test to read: one line for each fact, tab separated (the JAR, what it is, the values), in UTF-8. */

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.security.CodeSigner;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

final class Report implements AutoCloseable {
  private final PrintStream out;
  private String jar = "";

  Report() throws IOException {
    // System.out speaks the charset of the locale, which in CI is often ASCII.
    out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, "UTF-8");
  }

  /** The JAR that the next lines are about. */
  void about(String path) {
    jar = path;
    say("jar");
  }

  void say(String what, String... values) {
    StringBuilder line = new StringBuilder(jar).append('\t').append(what);
    for (String value : values) line.append('\t').append(escaped(value));
    out.append(line).append('\n');
  }

  void failed(String entry, Exception failure) {
    say("failed", entry, failure.getClass().getName(), String.valueOf(failure.getMessage()));
  }

  @Override
  public void close() {
    out.close();
  }

  private static String escaped(String value) {
    return value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r");
  }

  /** Whether a signature must cover this entry: all but directories, the manifest and what belongs to signatures. */
  static boolean isContent(String entry) {
    if (entry.endsWith("/")) return false;
    String name = entry.toUpperCase(Locale.ROOT);
    if (!name.startsWith("META-INF/") || name.indexOf('/', 9) >= 0) return true;
    return !name.substring(9).matches("MANIFEST\\.MF|SIG-.*|.*\\.(SF|RSA|DSA|EC)");
  }

  /** To the end: only then is it known who signed an entry. */
  static void readAll(InputStream in) throws IOException {
    byte[] buffer = new byte[65536];
    while (in.read(buffer) >= 0) continue;
  }

  static X509Certificate leafOf(CodeSigner signer) {
    return (X509Certificate) signer.getSignerCertPath().getCertificates().get(0);
  }

  static String commonName(X509Certificate certificate) throws InvalidNameException {
    for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
      if (part.getType().equalsIgnoreCase("CN")) return String.valueOf(part.getValue());
    }
    return "";
  }

  /** Says of an entry that has been read who signed it, by common names in order. */
  void saySigners(String entry, CodeSigner[] signers) throws InvalidNameException {
    if (signers == null) {
      say("unsigned", entry);
      return;
    }
    List<String> names = new ArrayList<>();
    for (CodeSigner signer : signers) names.add(commonName(leafOf(signer)));
    Collections.sort(names);
    names.add(0, entry);
    say("signed", names.toArray(new String[0]));
  }
}
