package dev.kagzi.sdk.internal.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The connection that a step's code receives: it cannot end the transaction. Closing it has no
 * effect.
 */
final class StepConnection {
  private static final Set<String> FORBIDDEN =
      Set.of("commit", "setAutoCommit", "abort", "setTransactionIsolation");

  private StepConnection() {}

  static Connection of(Connection connection, String stepKey) {
    return (Connection)
        Proxy.newProxyInstance(
            StepConnection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> call(connection, stepKey, method, arguments));
  }

  private static @Nullable Object call(
      Connection connection, String stepKey, Method method, @Nullable Object @Nullable [] arguments)
      throws Throwable {
    boolean rollsBackAll = method.getName().equals("rollback") && arguments == null;
    if (rollsBackAll || FORBIDDEN.contains(method.getName())) {
      throw new IllegalStateException(
          "%s() was called by the code of step %s (expected: it returns or throws, and Kagzi commits or rolls back)"
              .formatted(method.getName(), stepKey));
    }
    if (method.getName().equals("close")) {
      return null;
    }
    try {
      return method.invoke(connection, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
