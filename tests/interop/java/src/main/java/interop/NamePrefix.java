package interop;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.stream.Stream;
import org.redisson.config.BaseConfig;

/** A name mapper that puts a prefix before every name. By reflection: its interface has changed packages. */
final class NamePrefix {
  private NamePrefix() {}

  static void setOn(BaseConfig<?> servers, String prefix) {
    Method setter =
        Stream.of(servers.getClass().getMethods())
            .filter(method -> method.getName().equals("setNameMapper"))
            .findFirst()
            .orElseThrow();
    Class<?> mapper = setter.getParameterTypes()[0];
    InvocationHandler mapping =
        (proxy, method, args) -> {
          String name = (String) args[0];
          return method.getName().equals("map") ? prefix + name : name.substring(prefix.length());
        };
    Object made = Proxy.newProxyInstance(mapper.getClassLoader(), new Class<?>[] {mapper}, mapping);
    try {
      setter.invoke(servers, made);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
