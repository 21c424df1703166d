package dev.kagzi.testkit;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * JUnit extension that creates a {@link KagziEnv} for each test that declares one as parameter, and
 * closes it after the test.
 *
 * <pre>{@code
 * @ExtendWith(KagziExtension.class)
 * class OrderTest {
 *   @Test
 *   void an_order_is_shipped_after_a_day(KagziEnv env) {
 *     env.worker("orders").workflow(PROCESS_ORDER, Orders::process).start();
 *     RunHandle<Receipt> run = env.kagzi().workflow(PROCESS_ORDER).start(order);
 *
 *     env.advance(Duration.ofDays(1));
 *
 *     assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
 *   }
 * }
 * }</pre>
 *
 * <p>Tests may run in parallel. {@code @BeforeEach} methods receive the environment of their test.
 */
public final class KagziExtension implements ParameterResolver {
  private static final Namespace STORE = Namespace.create(KagziExtension.class);

  /** Called by JUnit. */
  public KagziExtension() {}

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == KagziEnv.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Store store = context.getStore(STORE);
    StoredEnv stored = store.get(StoredEnv.class, StoredEnv.class);
    if (stored == null) {
      stored = new StoredEnv(KagziEnv.start(name(context)));
      store.put(StoredEnv.class, stored);
    }
    return stored.env();
  }

  /**
   * JUnit closes it when the test ends. An {@link AutoCloseable} alone would stay open in JUnit
   * 5.12.
   */
  @SuppressWarnings("deprecation")
  private record StoredEnv(KagziEnv env) implements Store.CloseableResource {
    @Override
    public void close() {
      env.close();
    }
  }

  private static String name(ExtensionContext context) {
    return context.getTestMethod().map(method -> method.getName()).orElse("test");
  }
}
