package dev.kagzi.sdk.internal.wire;

import io.grpc.Attributes;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusOr;
import io.grpc.SynchronizationContext;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Resolves a fixed list of servers; the channel uses the first that answers. Their names are
 * resolved again when a connection fails, because a server may have moved to another IP address.
 */
final class StaticResolver extends NameResolverProvider {
  private static final String SCHEME = "kagzi";

  /** Names are resolved at most this often. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  static {
    NameResolverRegistry.getDefaultRegistry()
        .register(new StaticResolver(InetAddress::getAllByName, 5));
  }

  private final Lookup lookup;
  private final int priority;

  StaticResolver(Lookup lookup, int priority) {
    this.lookup = lookup;
    this.priority = priority;
  }

  static String target(List<String> addresses) {
    return Channels.target(SCHEME, String.join(",", addresses));
  }

  @Override
  protected boolean isAvailable() {
    return true;
  }

  @Override
  protected int priority() {
    return priority;
  }

  @Override
  public String getDefaultScheme() {
    return SCHEME;
  }

  @Override
  public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
    return Set.of(InetSocketAddress.class);
  }

  @Override
  public @Nullable NameResolver newNameResolver(URI target, NameResolver.Args args) {
    return target.getScheme().equals(SCHEME)
        ? new Fixed(List.of(target.getPath().substring(1).split(",")), args, lookup)
        : null;
  }

  /** Finds the IP addresses of a host name; may block. */
  interface Lookup {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  private static final class Fixed extends NameResolver {
    private final List<String> addresses;
    private final boolean ownNames;
    private final Lookup lookup;
    private final SynchronizationContext context;

    // Used in the synchronization context only.
    private @Nullable Listener2 listener;
    private List<EquivalentAddressGroup> published = List.of();
    private boolean resolving;
    private long resolvedNanos;

    /** The last addresses of each server, which are kept while its name cannot be resolved. */
    private final Map<String, List<SocketAddress>> resolved = new HashMap<>();

    /** Each server's certificate must match its own name, unless one name is set for all. */
    Fixed(List<String> addresses, Args args, Lookup lookup) {
      this.addresses = addresses;
      this.ownNames = args.getOverrideAuthority() == null;
      this.lookup = lookup;
      this.context = args.getSynchronizationContext();
    }

    @Override
    public String getServiceAuthority() {
      return addresses.getFirst();
    }

    @Override
    public void start(Listener2 receiver) {
      listener = receiver;
      resolve();
    }

    /** The channel calls this when it has lost a connection or could not connect. */
    @Override
    public void refresh() {
      if (System.nanoTime() - resolvedNanos >= REFRESH_NANOS) {
        resolve();
      }
    }

    // A name server that does not answer blocks a thread for many seconds, and the caller may be
    // the thread of all calls.
    private void resolve() {
      if (!resolving) {
        resolving = true;
        Thread.ofPlatform().daemon().name("kagzi-resolver").start(this::lookUp);
      }
    }

    private void lookUp() {
      Map<String, List<SocketAddress>> found = new HashMap<>();
      try {
        for (String address : addresses) {
          List<SocketAddress> sockets = sockets(address);
          if (!sockets.isEmpty()) {
            found.put(address, sockets);
          }
        }
      } finally {
        context.execute(() -> publish(found));
      }
    }

    private List<SocketAddress> sockets(String address) {
      try {
        return Arrays.stream(lookup.addresses(host(address)))
            .<SocketAddress>map(ip -> new InetSocketAddress(ip, port(address)))
            .toList();
      } catch (UnknownHostException e) {
        return List.of();
      }
    }

    private void publish(Map<String, List<SocketAddress>> found) {
      resolving = false;
      resolvedNanos = System.nanoTime();
      resolved.putAll(found);
      List<EquivalentAddressGroup> groups = addresses.stream().map(this::server).toList();
      if (listener != null && !groups.equals(published)) {
        published = groups;
        listener.onResult(
            ResolutionResult.newBuilder().setAddressesOrError(StatusOr.fromValue(groups)).build());
      }
    }

    private EquivalentAddressGroup server(String address) {
      Attributes name =
          Attributes.newBuilder()
              .set(EquivalentAddressGroup.ATTR_AUTHORITY_OVERRIDE, address)
              .build();
      // A server without an IP address stays in the list, so that a failed connection names it.
      List<SocketAddress> sockets =
          resolved.getOrDefault(
              address, List.of(InetSocketAddress.createUnresolved(host(address), port(address))));
      return new EquivalentAddressGroup(sockets, ownNames ? name : Attributes.EMPTY);
    }

    @Override
    public void shutdown() {
      listener = null;
    }
  }

  private static String host(String address) {
    return address.substring(0, address.lastIndexOf(':'));
  }

  private static int port(String address) {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }
}
