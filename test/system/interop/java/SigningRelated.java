/** Says for each line of a file, in UTF-8, whether an entry of that name belongs to signatures as Java has it, and is not signed. */

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;

final class SigningRelated {
  // Called by its name: the compiler, which is asked for classes of Java 8, does not see it.
  public static void main(String[] arguments) throws Exception {
    Method isSigningRelated =
        Class.forName("sun.security.util.SignatureFileVerifier").getMethod("isSigningRelated", String.class);
    StringBuilder out = new StringBuilder();
    for (String name : Files.readAllLines(Paths.get(arguments[0]))) {
      out.append(isSigningRelated.invoke(null, name)).append('\n');
    }
    System.out.print(out);
  }
}
