package dev.kagzi.embedded;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The class loader of the server: its own jars and the JDK. From the application it takes slf4j, so
 * that there is one log, and the types of this package.
 *
 * <p>There is one per JVM, for all servers. It is never closed, because threads of gRPC outlive the
 * servers.
 */
final class ServerLoader extends URLClassLoader {
  private static final String HERE = ServerLoader.class.getPackageName() + ".";
  private static final String INSIDE = HERE + "inside.";

  static {
    registerAsParallelCapable();
  }

  private static @Nullable EmbeddedServers loaded;

  private final ClassLoader application;

  private ServerLoader(List<URL> jars, ClassLoader application) {
    super("kagzi-server", jars.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    this.application = application;
  }

  /** Loads the server at the first call. After a failure, the next call tries again. */
  static synchronized EmbeddedServers servers() {
    EmbeddedServers servers = loaded;
    if (servers == null) {
      servers = load();
      loaded = servers;
    }
    return servers;
  }

  private static EmbeddedServers load() {
    ClassLoader application = ServerLoader.class.getClassLoader();
    ServerLoader loader = new ServerLoader(ServerJars.unpacked(), application);
    try {
      return (EmbeddedServers)
          loader.loadClass(INSIDE + "IsolatedServers").getConstructor().newInstance();
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new EmbeddedServerException(
          "the server in kagzi-embedded cannot be loaded: "
              + e
              + " (expected: the jar of kagzi-embedded as it was published)",
          e);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    if (name.startsWith(INSIDE)) {
      byte[] code = codeOf(name);
      return defineClass(name, code, 0, code.length);
    }
    if (name.startsWith(HERE) || name.startsWith("org.slf4j.")) {
      return application.loadClass(name);
    }
    return super.findClass(name);
  }

  private byte[] codeOf(String name) throws ClassNotFoundException {
    try (InputStream in =
        application.getResourceAsStream(name.replace('.', '/').concat(".class"))) {
      if (in == null) {
        throw new ClassNotFoundException(name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
