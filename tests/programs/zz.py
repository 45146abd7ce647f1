import sys, threading, resource, jax, numpy as np
jax.devices()
if sys.argv[1]=="fd": resource.setrlimit(resource.RLIMIT_NOFILE,(30,30))
n=int(sys.argv[2]); b=threading.Barrier(n)
def w():
    b.wait(); jax.device_put(np.zeros(3,np.int8)); b.wait()
ts=[threading.Thread(target=w) for _ in range(n)]
[t.start() for t in ts]; [t.join() for t in ts]
print("ok")
