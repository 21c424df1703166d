package dev.kagzi.embedded.inside;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.embedded.EmbeddedServerException;
import dev.kagzi.embedded.EmbeddedServers;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.ConfigFile;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.ListenConfig;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Supplier;
import org.postgresql.Driver;

/** Starts servers. Created by reflection. */
public final class IsolatedServers implements EmbeddedServers {
  /** Called by reflection. */
  public IsolatedServers() {
    // DriverManager finds drivers of the application by itself, and not those of this class loader.
    if (!Driver.isRegistered()) {
      register();
    }
  }

  private static void register() {
    try {
      Driver.register();
    } catch (java.sql.SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public EmbeddedServer start(Request request) {
    return inside(
        () -> {
          ServerConfig.Builder config = config(request);
          if (!request.http()) {
            config.httpPort(ListenConfig.NONE);
          }
          ServerConfig built = config.onFailure(request.onFailure()).build();
          return new IsolatedServer(KagziServer.start(built), built.listen().host());
        });
  }

  @Override
  public String migrate(Request request) {
    return inside(() -> KagziServer.migrate(config(request)));
  }

  private static ServerConfig.Builder config(Request request) {
    ServerConfig.Builder config =
        ServerConfig.builder(
            Settings.of(
                new Settings.Sources(
                    options(request.options()), Map.of(), ConfigFile.none(), Map.of())));
    return request.safeDatabase() ? config : config.unsafeDatabase();
  }

  private static Map<ServerOption, String> options(Map<String, String> byKey) {
    Map<ServerOption, String> options = new EnumMap<>(ServerOption.class);
    byKey.forEach((key, value) -> options.put(option(key), value));
    return options;
  }

  private static ServerOption option(String key) {
    return Arrays.stream(ServerOption.values())
        .filter(option -> option.key().equals(key))
        .findAny()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "option: " + key + " (expected: a server option of docs/reference.md)"));
  }

  /**
   * Runs the action with the server's class loader as context class loader. Threads that the server
   * starts inherit it, and libraries find their services by it. Translates exceptions, because the
   * application does not know the types of the server's exceptions.
   */
  private static <T> T inside(Supplier<T> action) {
    Thread thread = Thread.currentThread();
    ClassLoader outside = thread.getContextClassLoader();
    thread.setContextClassLoader(IsolatedServers.class.getClassLoader());
    try {
      return action.get();
    } catch (RuntimeException e) {
      throw new EmbeddedServerException(String.valueOf(e.getMessage()), e);
    } finally {
      thread.setContextClassLoader(outside);
    }
  }
}
