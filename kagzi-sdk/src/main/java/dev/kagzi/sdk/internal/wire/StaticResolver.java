package dev.kagzi.sdk.internal.wire;

import io.grpc.Attributes;
import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.StatusOr;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Resolves a fixed list of servers; the channel uses the first that answers. */
final class StaticResolver extends NameResolverProvider {
  private static final String SCHEME = "kagzi";

  static {
    NameResolverRegistry.getDefaultRegistry().register(new StaticResolver());
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
    return 5;
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
        ? new Fixed(
            List.of(target.getPath().substring(1).split(",")), args.getOverrideAuthority() == null)
        : null;
  }

  private static final class Fixed extends NameResolver {
    private final List<String> addresses;
    private final boolean ownNames;

    /**
     * @param ownNames whether each server's certificate must match its own name, and not one name
     *     that is set for all
     */
    Fixed(List<String> addresses, boolean ownNames) {
      this.addresses = addresses;
      this.ownNames = ownNames;
    }

    @Override
    public String getServiceAuthority() {
      return addresses.getFirst();
    }

    @Override
    public void start(Listener2 listener) {
      List<EquivalentAddressGroup> groups = addresses.stream().map(this::server).toList();
      listener.onResult(
          ResolutionResult.newBuilder().setAddressesOrError(StatusOr.fromValue(groups)).build());
    }

    private EquivalentAddressGroup server(String address) {
      Attributes name =
          Attributes.newBuilder()
              .set(EquivalentAddressGroup.ATTR_AUTHORITY_OVERRIDE, address)
              .build();
      return new EquivalentAddressGroup(socket(address), ownNames ? name : Attributes.EMPTY);
    }

    @Override
    public void shutdown() {}
  }

  private static SocketAddress socket(String address) {
    int colon = address.lastIndexOf(':');
    return new InetSocketAddress(
        address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
  }
}
