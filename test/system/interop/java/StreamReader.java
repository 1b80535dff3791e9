/** Reads JARs front to back with verification on, as class loaders over the network do: java StreamReader JAR… */

import java.io.FileInputStream;
import java.io.InputStream;
import java.util.jar.JarEntry;
import java.util.jar.JarInputStream;

final class StreamReader {
  public static void main(String[] jars) throws Exception {
    try (Report report = new Report()) {
      for (String jar : jars) read(jar, report);
    }
  }

  private static void read(String path, Report report) {
    report.about(path);
    String current = "";
    int entries = 0;
    try (InputStream file = new FileInputStream(path); JarInputStream jar = new JarInputStream(file, true)) {
      report.say("manifest", jar.getManifest() == null ? "missing" : "found");
      for (JarEntry entry; (entry = jar.getNextJarEntry()) != null; ) {
        current = entry.getName();
        Report.readAll(jar);
        if (!Report.isContent(current)) continue;
        entries++;
        report.saySigners(current, entry.getCodeSigners());
      }
    } catch (Exception failure) {
      report.failed(current, failure);
    }
    report.say("entries", String.valueOf(entries));
  }
}
