package dev.kagzi.sdk.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Attributes;
import io.grpc.ConnectivityState;
import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.SynchronizationContext;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The names of several servers, with a name service that a test controls. */
@NullMarked
class StaticResolverTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  /** The IP address of each name, on the loopback interface: the last byte. */
  private final Map<String, Integer> names = new ConcurrentHashMap<>();

  private final AtomicInteger lookups = new AtomicInteger();
  private volatile CountDownLatch answers = new CountDownLatch(0);
  private final StaticResolver provider = new StaticResolver(this::lookUp, 6);

  private final SynchronizationContext context =
      new SynchronizationContext(
          (thread, thrown) -> {
            throw new IllegalStateException(thrown);
          });
  private final List<List<EquivalentAddressGroup>> published = new CopyOnWriteArrayList<>();

  @BeforeEach
  void register() {
    NameResolverRegistry.getDefaultRegistry().register(provider);
  }

  @AfterEach
  void deregister() {
    answers.countDown();
    NameResolverRegistry.getDefaultRegistry().deregister(provider);
  }

  private InetAddress[] lookUp(String host) throws UnknownHostException {
    lookups.incrementAndGet();
    try {
      answers.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Integer last = names.get(host);
    if (last == null) {
      throw new UnknownHostException(host);
    }
    return new InetAddress[] {InetAddress.getByAddress(new byte[] {127, 0, 0, last.byteValue()})};
  }

  @Test
  void a_client_finds_a_server_that_has_moved_to_another_ip_address() throws Exception {
    names.put("a.test", 1);
    Connected connected = new Connected();
    Server old = server("127.0.0.1", 0, new Connected());
    List<String> addresses = List.of("a.test:" + old.getPort(), "b.test:" + old.getPort());
    ManagedChannel channel = Channels.open(addresses, Credentials.NONE, UnaryOperator.identity());
    // It makes the channel connect again about every second.
    Connection connection = new Connection(channel, "a.test", "default", SOON);
    try {
      await().atMost(SOON).until(() -> channel.getState(true) == ConnectivityState.READY);

      names.put("a.test", 2);
      Server moved = server("127.0.0.2", old.getPort(), connected);
      old.shutdownNow();

      await()
          .atMost(SOON)
          .until(
              () ->
                  channel.getState(true) == ConnectivityState.READY
                      && connected.latch.getCount() == 0);
      moved.shutdownNow();
    } finally {
      connection.close();
      old.shutdownNow();
    }
  }

  private static Server server(String ip, int port, ServerTransportFilter connected)
      throws IOException {
    return NettyServerBuilder.forAddress(new InetSocketAddress(ip, port))
        .addTransportFilter(connected)
        .build()
        .start();
  }

  private static final class Connected extends ServerTransportFilter {
    final CountDownLatch latch = new CountDownLatch(1);

    @Override
    public Attributes transportReady(Attributes attributes) {
      latch.countDown();
      return attributes;
    }
  }

  @Test
  void servers_keep_their_addresses_while_their_names_cannot_be_resolved() {
    names.put("a.test", 1);
    names.put("b.test", 2);
    NameResolver resolver = start();
    await().atMost(SOON).until(() -> published.size() == 1);

    names.remove("a.test");
    names.put("b.test", 3);
    awaitPublished(resolver, 2);
    assertThat(published.getLast()).extracting(this::ip).containsExactly("127.0.0.1", "127.0.0.3");

    names.put("a.test", 4);
    awaitPublished(resolver, 3);
    assertThat(published.getLast()).extracting(this::ip).containsExactly("127.0.0.4", "127.0.0.3");
    resolver.shutdown();
  }

  @Test
  void a_name_service_that_does_not_answer_does_not_block_the_channel() {
    names.put("a.test", 1);
    answers = new CountDownLatch(1);

    NameResolver resolver = start();

    await().atMost(SOON).until(() -> lookups.get() == 1);
    context.execute(resolver::refresh);
    assertThat(published).isEmpty();
    answers.countDown();
    await().atMost(SOON).until(() -> published.size() == 1);
    resolver.shutdown();
  }

  @Test
  void names_are_resolved_at_most_once_a_second() {
    long beganNanos = System.nanoTime();
    NameResolver resolver = start();
    await().atMost(SOON).until(() -> published.size() == 1);

    for (int i = 0; i < 1_000; i++) {
      context.execute(resolver::refresh);
    }

    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beganNanos);
    assertThat(lookups.get()).isLessThanOrEqualTo(2 * (1 + (int) seconds));
    resolver.shutdown();
  }

  private NameResolver start() {
    URI target = URI.create(StaticResolver.target(List.of("a.test:1", "b.test:1")));
    NameResolver resolver =
        Objects.requireNonNull(provider.newNameResolver(target, arguments()), "resolver");
    context.execute(
        () ->
            resolver.start(
                new NameResolver.Listener2() {
                  @Override
                  public void onResult(NameResolver.ResolutionResult result) {
                    published.add(result.getAddressesOrError().getValue());
                  }

                  @Override
                  public void onError(Status error) {
                    throw error.asRuntimeException();
                  }
                }));
    return resolver;
  }

  private NameResolver.Args arguments() {
    return NameResolver.Args.newBuilder()
        .setDefaultPort(1)
        .setProxyDetector(address -> null)
        .setSynchronizationContext(context)
        .setServiceConfigParser(
            new NameResolver.ServiceConfigParser() {
              @Override
              public NameResolver.ConfigOrError parseServiceConfig(Map<String, ?> config) {
                return NameResolver.ConfigOrError.fromConfig(config);
              }
            })
        .build();
  }

  private void awaitPublished(NameResolver resolver, int results) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              context.execute(resolver::refresh);
              return published.size() == results;
            });
  }

  private String ip(EquivalentAddressGroup server) {
    return ((InetSocketAddress) server.getAddresses().getFirst()).getAddress().getHostAddress();
  }
}
