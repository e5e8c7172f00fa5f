// Which keys may be in a set: buckets of four tags of a byte, of which 0 is an empty place. From a key's bucket on, a
// thread looks for the key's tag until it finds it or an empty place. Counts hits, and the longest search.
typedef unsigned int u32;

__device__ u32 mix(u32 h)
{
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ (h >> 16);
}

extern "C" __global__ void tag_filter(unsigned char *found, u32 *hits, u32 *longest, const u32 *keys, const u32 *buckets,
                                      u32 n, u32 mask, u32 limit)
{
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    bool hit = false;
    u32 searched = 0;
    if (i < n) {
        u32 h = mix(keys[i]);
        u32 tag = 1 + (h >> 28) % 15, wanted = tag * 0x01010101u;
        u32 at = h & mask;
        while (searched < limit) {
            u32 tags = buckets[at];
            ++searched;
            if (__vcmpeq4(tags, wanted)) {
                hit = true;
                break;
            }
            if (__vcmpeq4(tags, 0)) break;
            at = (at + 1) & mask;
        }
        found[i] = hit;
    }
    u32 votes = __ballot_sync(0xffffffff, hit);
    u32 most = __reduce_max_sync(0xffffffff, searched);
    if ((threadIdx.x & 31) == 0) {
        if (votes) atomicAdd(hits, __popc(votes));
        atomicMax(longest, most);
    }
}
