/** Says for each line of a file, in UTF-8, whether an entry of that name belongs to signatures as Java has it, and is not signed. */

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import sun.security.util.SignatureFileVerifier;

final class SigningRelated {
  public static void main(String[] arguments) throws IOException {
    StringBuilder out = new StringBuilder();
    for (String name : Files.readAllLines(Paths.get(arguments[0]))) {
      out.append(SignatureFileVerifier.isSigningRelated(name)).append('\n');
    }
    System.out.print(out);
  }
}
