# encoding: utf-8
from antlr4 import *
from io import StringIO
import sys
if sys.version_info[1] > 5:
	from typing import TextIO
else:
	from typing.io import TextIO


from goptx.ptx.rule import Rule

def serializedATN():
    return [
        4,1,61,612,2,0,7,0,2,1,7,1,2,2,7,2,2,3,7,3,2,4,7,4,2,5,7,5,2,6,7,
        6,2,7,7,7,2,8,7,8,2,9,7,9,2,10,7,10,2,11,7,11,2,12,7,12,2,13,7,13,
        2,14,7,14,2,15,7,15,2,16,7,16,2,17,7,17,2,18,7,18,2,19,7,19,2,20,
        7,20,2,21,7,21,2,22,7,22,2,23,7,23,2,24,7,24,1,0,5,0,52,8,0,10,0,
        12,0,55,9,0,1,0,1,0,1,1,1,1,1,1,1,1,1,1,1,1,5,1,65,8,1,10,1,12,1,
        68,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,3,1,79,8,1,1,1,1,1,1,
        1,1,1,5,1,85,8,1,10,1,12,1,88,9,1,1,1,1,1,1,1,1,1,1,1,1,1,5,1,96,
        8,1,10,1,12,1,99,9,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,5,1,109,8,1,
        10,1,12,1,112,9,1,1,1,3,1,115,8,1,1,2,1,2,1,3,1,3,1,3,3,3,122,8,
        3,1,4,1,4,1,4,1,4,1,4,1,4,5,4,130,8,4,10,4,12,4,133,9,4,3,4,135,
        8,4,1,4,3,4,138,8,4,1,4,5,4,141,8,4,10,4,12,4,144,9,4,1,4,1,4,3,
        4,148,8,4,1,5,1,5,5,5,152,8,5,10,5,12,5,155,9,5,1,5,1,5,1,5,1,5,
        5,5,161,8,5,10,5,12,5,164,9,5,1,5,1,5,3,5,168,8,5,1,5,1,5,1,5,1,
        5,1,5,5,5,175,8,5,10,5,12,5,178,9,5,3,5,180,8,5,1,5,3,5,183,8,5,
        1,5,5,5,186,8,5,10,5,12,5,189,9,5,1,5,1,5,3,5,193,8,5,1,6,1,6,3,
        6,197,8,6,1,7,1,7,1,7,1,7,5,7,203,8,7,10,7,12,7,206,9,7,3,7,208,
        8,7,1,7,1,7,1,7,1,7,5,7,214,8,7,10,7,12,7,217,9,7,1,7,3,7,220,8,
        7,1,8,3,8,223,8,8,1,8,1,8,5,8,227,8,8,10,8,12,8,230,9,8,1,8,1,8,
        1,8,5,8,235,8,8,10,8,12,8,238,9,8,1,8,1,8,1,9,1,9,5,9,244,8,9,10,
        9,12,9,247,9,9,1,9,3,9,250,8,9,1,10,1,10,1,10,1,10,3,10,256,8,10,
        1,10,5,10,259,8,10,10,10,12,10,262,9,10,1,10,1,10,3,10,266,8,10,
        1,11,1,11,1,11,1,11,3,11,272,8,11,1,12,1,12,1,12,1,12,1,12,5,12,
        279,8,12,10,12,12,12,282,9,12,1,12,1,12,1,13,1,13,1,13,1,13,1,13,
        5,13,291,8,13,10,13,12,13,294,9,13,1,13,3,13,297,8,13,1,14,1,14,
        3,14,301,8,14,1,14,1,14,1,15,1,15,1,15,1,15,5,15,309,8,15,10,15,
        12,15,312,9,15,3,15,314,8,15,1,15,1,15,1,15,1,15,3,15,320,8,15,3,
        15,322,8,15,1,16,1,16,5,16,326,8,16,10,16,12,16,329,9,16,1,16,1,
        16,1,17,1,17,1,17,5,17,336,8,17,10,17,12,17,339,9,17,1,17,1,17,1,
        17,5,17,344,8,17,10,17,12,17,347,9,17,3,17,349,8,17,1,17,3,17,352,
        8,17,1,17,1,17,3,17,356,8,17,1,17,1,17,1,17,5,17,361,8,17,10,17,
        12,17,364,9,17,1,17,1,17,1,17,5,17,369,8,17,10,17,12,17,372,9,17,
        3,17,374,8,17,1,17,1,17,1,17,5,17,379,8,17,10,17,12,17,382,9,17,
        1,17,1,17,1,17,1,17,1,17,1,17,1,17,1,17,5,17,392,8,17,10,17,12,17,
        395,9,17,1,17,1,17,1,17,1,17,5,17,401,8,17,10,17,12,17,404,9,17,
        1,17,1,17,1,17,1,17,1,17,5,17,411,8,17,10,17,12,17,414,9,17,1,17,
        1,17,1,17,1,17,1,17,1,17,5,17,422,8,17,10,17,12,17,425,9,17,1,17,
        1,17,1,17,1,17,1,17,1,17,1,17,5,17,434,8,17,10,17,12,17,437,9,17,
        3,17,439,8,17,1,17,3,17,442,8,17,1,17,1,17,1,17,1,17,1,17,5,17,449,
        8,17,10,17,12,17,452,9,17,3,17,454,8,17,1,17,3,17,457,8,17,1,17,
        5,17,460,8,17,10,17,12,17,463,9,17,1,17,3,17,466,8,17,1,18,1,18,
        4,18,470,8,18,11,18,12,18,471,1,18,1,18,1,18,5,18,477,8,18,10,18,
        12,18,480,9,18,1,18,1,18,1,19,1,19,1,19,1,19,3,19,488,8,19,1,20,
        1,20,1,20,1,20,3,20,494,8,20,1,20,1,20,1,20,3,20,499,8,20,1,21,1,
        21,1,21,1,21,5,21,505,8,21,10,21,12,21,508,9,21,3,21,510,8,21,1,
        21,1,21,1,21,3,21,515,8,21,1,21,1,21,1,21,1,21,5,21,521,8,21,10,
        21,12,21,524,9,21,1,21,1,21,1,21,1,21,1,21,1,21,1,21,1,21,1,21,5,
        21,535,8,21,10,21,12,21,538,9,21,3,21,540,8,21,1,21,1,21,5,21,544,
        8,21,10,21,12,21,547,9,21,3,21,549,8,21,1,21,1,21,1,21,1,21,1,21,
        1,21,5,21,557,8,21,10,21,12,21,560,9,21,3,21,562,8,21,1,21,1,21,
        1,21,1,21,5,21,568,8,21,10,21,12,21,571,9,21,3,21,573,8,21,1,22,
        1,22,5,22,577,8,22,10,22,12,22,580,9,22,1,23,1,23,1,23,1,24,5,24,
        586,8,24,10,24,12,24,589,9,24,1,24,1,24,3,24,593,8,24,1,24,1,24,
        1,24,1,24,3,24,599,8,24,1,24,1,24,1,24,1,24,1,24,1,24,1,24,3,24,
        608,8,24,3,24,610,8,24,1,24,0,0,25,0,2,4,6,8,10,12,14,16,18,20,22,
        24,26,28,30,32,34,36,38,40,42,44,46,48,0,10,2,0,51,51,53,54,1,0,
        51,52,4,0,3,3,5,5,12,14,51,55,2,0,19,19,50,50,2,0,50,50,52,52,3,
        0,11,11,49,50,52,52,3,0,13,14,28,28,34,34,1,0,53,54,4,0,12,14,20,
        21,33,33,35,48,1,0,53,55,696,0,53,1,0,0,0,2,114,1,0,0,0,4,116,1,
        0,0,0,6,121,1,0,0,0,8,123,1,0,0,0,10,149,1,0,0,0,12,196,1,0,0,0,
        14,219,1,0,0,0,16,222,1,0,0,0,18,241,1,0,0,0,20,251,1,0,0,0,22,271,
        1,0,0,0,24,273,1,0,0,0,26,285,1,0,0,0,28,298,1,0,0,0,30,321,1,0,
        0,0,32,323,1,0,0,0,34,465,1,0,0,0,36,467,1,0,0,0,38,483,1,0,0,0,
        40,489,1,0,0,0,42,572,1,0,0,0,44,574,1,0,0,0,46,581,1,0,0,0,48,587,
        1,0,0,0,50,52,3,2,1,0,51,50,1,0,0,0,52,55,1,0,0,0,53,51,1,0,0,0,
        53,54,1,0,0,0,54,56,1,0,0,0,55,53,1,0,0,0,56,57,5,0,0,1,57,1,1,0,
        0,0,58,59,5,1,0,0,59,115,7,0,0,0,60,61,5,2,0,0,61,66,5,51,0,0,62,
        63,5,3,0,0,63,65,5,51,0,0,64,62,1,0,0,0,65,68,1,0,0,0,66,64,1,0,
        0,0,66,67,1,0,0,0,67,115,1,0,0,0,68,66,1,0,0,0,69,70,5,4,0,0,70,
        115,5,54,0,0,71,72,5,5,0,0,72,73,5,54,0,0,73,78,5,55,0,0,74,75,5,
        3,0,0,75,76,5,54,0,0,76,77,5,3,0,0,77,79,5,54,0,0,78,74,1,0,0,0,
        78,79,1,0,0,0,79,115,1,0,0,0,80,81,5,6,0,0,81,82,7,1,0,0,82,86,5,
        7,0,0,83,85,3,4,2,0,84,83,1,0,0,0,85,88,1,0,0,0,86,84,1,0,0,0,86,
        87,1,0,0,0,87,89,1,0,0,0,88,86,1,0,0,0,89,115,5,8,0,0,90,115,5,56,
        0,0,91,92,5,9,0,0,92,97,5,55,0,0,93,94,5,3,0,0,94,96,5,55,0,0,95,
        93,1,0,0,0,96,99,1,0,0,0,97,95,1,0,0,0,97,98,1,0,0,0,98,100,1,0,
        0,0,99,97,1,0,0,0,100,115,5,10,0,0,101,102,5,11,0,0,102,103,5,51,
        0,0,103,104,5,3,0,0,104,105,5,51,0,0,105,115,5,10,0,0,106,115,3,
        36,18,0,107,109,5,49,0,0,108,107,1,0,0,0,109,112,1,0,0,0,110,108,
        1,0,0,0,110,111,1,0,0,0,111,113,1,0,0,0,112,110,1,0,0,0,113,115,
        3,6,3,0,114,58,1,0,0,0,114,60,1,0,0,0,114,69,1,0,0,0,114,71,1,0,
        0,0,114,80,1,0,0,0,114,90,1,0,0,0,114,91,1,0,0,0,114,101,1,0,0,0,
        114,106,1,0,0,0,114,110,1,0,0,0,115,3,1,0,0,0,116,117,7,2,0,0,117,
        5,1,0,0,0,118,122,3,16,8,0,119,122,3,8,4,0,120,122,3,10,5,0,121,
        118,1,0,0,0,121,119,1,0,0,0,121,120,1,0,0,0,122,7,1,0,0,0,123,124,
        5,15,0,0,124,137,5,51,0,0,125,134,5,16,0,0,126,131,3,18,9,0,127,
        128,5,3,0,0,128,130,3,18,9,0,129,127,1,0,0,0,130,133,1,0,0,0,131,
        129,1,0,0,0,131,132,1,0,0,0,132,135,1,0,0,0,133,131,1,0,0,0,134,
        126,1,0,0,0,134,135,1,0,0,0,135,136,1,0,0,0,136,138,5,17,0,0,137,
        125,1,0,0,0,137,138,1,0,0,0,138,142,1,0,0,0,139,141,3,14,7,0,140,
        139,1,0,0,0,141,144,1,0,0,0,142,140,1,0,0,0,142,143,1,0,0,0,143,
        147,1,0,0,0,144,142,1,0,0,0,145,148,3,32,16,0,146,148,5,10,0,0,147,
        145,1,0,0,0,147,146,1,0,0,0,148,9,1,0,0,0,149,153,5,18,0,0,150,152,
        3,12,6,0,151,150,1,0,0,0,152,155,1,0,0,0,153,151,1,0,0,0,153,154,
        1,0,0,0,154,167,1,0,0,0,155,153,1,0,0,0,156,157,5,16,0,0,157,162,
        3,18,9,0,158,159,5,3,0,0,159,161,3,18,9,0,160,158,1,0,0,0,161,164,
        1,0,0,0,162,160,1,0,0,0,162,163,1,0,0,0,163,165,1,0,0,0,164,162,
        1,0,0,0,165,166,5,17,0,0,166,168,1,0,0,0,167,156,1,0,0,0,167,168,
        1,0,0,0,168,169,1,0,0,0,169,182,5,51,0,0,170,179,5,16,0,0,171,176,
        3,18,9,0,172,173,5,3,0,0,173,175,3,18,9,0,174,172,1,0,0,0,175,178,
        1,0,0,0,176,174,1,0,0,0,176,177,1,0,0,0,177,180,1,0,0,0,178,176,
        1,0,0,0,179,171,1,0,0,0,179,180,1,0,0,0,180,181,1,0,0,0,181,183,
        5,17,0,0,182,170,1,0,0,0,182,183,1,0,0,0,183,187,1,0,0,0,184,186,
        3,14,7,0,185,184,1,0,0,0,186,189,1,0,0,0,187,185,1,0,0,0,187,188,
        1,0,0,0,188,192,1,0,0,0,189,187,1,0,0,0,190,193,3,32,16,0,191,193,
        5,10,0,0,192,190,1,0,0,0,192,191,1,0,0,0,193,11,1,0,0,0,194,197,
        5,52,0,0,195,197,3,24,12,0,196,194,1,0,0,0,196,195,1,0,0,0,197,13,
        1,0,0,0,198,207,5,52,0,0,199,204,5,54,0,0,200,201,5,3,0,0,201,203,
        5,54,0,0,202,200,1,0,0,0,203,206,1,0,0,0,204,202,1,0,0,0,204,205,
        1,0,0,0,205,208,1,0,0,0,206,204,1,0,0,0,207,199,1,0,0,0,207,208,
        1,0,0,0,208,220,1,0,0,0,209,210,5,9,0,0,210,215,5,55,0,0,211,212,
        5,3,0,0,212,214,5,55,0,0,213,211,1,0,0,0,214,217,1,0,0,0,215,213,
        1,0,0,0,215,216,1,0,0,0,216,218,1,0,0,0,217,215,1,0,0,0,218,220,
        5,10,0,0,219,198,1,0,0,0,219,209,1,0,0,0,220,15,1,0,0,0,221,223,
        3,24,12,0,222,221,1,0,0,0,222,223,1,0,0,0,223,224,1,0,0,0,224,228,
        5,50,0,0,225,227,3,22,11,0,226,225,1,0,0,0,227,230,1,0,0,0,228,226,
        1,0,0,0,228,229,1,0,0,0,229,231,1,0,0,0,230,228,1,0,0,0,231,236,
        3,20,10,0,232,233,5,3,0,0,233,235,3,20,10,0,234,232,1,0,0,0,235,
        238,1,0,0,0,236,234,1,0,0,0,236,237,1,0,0,0,237,239,1,0,0,0,238,
        236,1,0,0,0,239,240,5,10,0,0,240,17,1,0,0,0,241,245,7,3,0,0,242,
        244,3,22,11,0,243,242,1,0,0,0,244,247,1,0,0,0,245,243,1,0,0,0,245,
        246,1,0,0,0,246,249,1,0,0,0,247,245,1,0,0,0,248,250,3,20,10,0,249,
        248,1,0,0,0,249,250,1,0,0,0,250,19,1,0,0,0,251,255,5,51,0,0,252,
        253,5,20,0,0,253,254,5,54,0,0,254,256,5,21,0,0,255,252,1,0,0,0,255,
        256,1,0,0,0,256,260,1,0,0,0,257,259,3,28,14,0,258,257,1,0,0,0,259,
        262,1,0,0,0,260,258,1,0,0,0,260,261,1,0,0,0,261,265,1,0,0,0,262,
        260,1,0,0,0,263,264,5,22,0,0,264,266,3,30,15,0,265,263,1,0,0,0,265,
        266,1,0,0,0,266,21,1,0,0,0,267,272,7,4,0,0,268,269,5,23,0,0,269,
        272,5,54,0,0,270,272,3,24,12,0,271,267,1,0,0,0,271,268,1,0,0,0,271,
        270,1,0,0,0,272,23,1,0,0,0,273,274,5,24,0,0,274,275,5,16,0,0,275,
        280,3,26,13,0,276,277,5,3,0,0,277,279,3,26,13,0,278,276,1,0,0,0,
        279,282,1,0,0,0,280,278,1,0,0,0,280,281,1,0,0,0,281,283,1,0,0,0,
        282,280,1,0,0,0,283,284,5,17,0,0,284,25,1,0,0,0,285,296,5,52,0,0,
        286,287,5,16,0,0,287,292,5,54,0,0,288,289,5,3,0,0,289,291,5,54,0,
        0,290,288,1,0,0,0,291,294,1,0,0,0,292,290,1,0,0,0,292,293,1,0,0,
        0,293,295,1,0,0,0,294,292,1,0,0,0,295,297,5,17,0,0,296,286,1,0,0,
        0,296,297,1,0,0,0,297,27,1,0,0,0,298,300,5,25,0,0,299,301,5,54,0,
        0,300,299,1,0,0,0,300,301,1,0,0,0,301,302,1,0,0,0,302,303,5,26,0,
        0,303,29,1,0,0,0,304,313,5,7,0,0,305,310,3,30,15,0,306,307,5,3,0,
        0,307,309,3,30,15,0,308,306,1,0,0,0,309,312,1,0,0,0,310,308,1,0,
        0,0,310,311,1,0,0,0,311,314,1,0,0,0,312,310,1,0,0,0,313,305,1,0,
        0,0,313,314,1,0,0,0,314,315,1,0,0,0,315,322,5,8,0,0,316,319,3,44,
        22,0,317,318,5,22,0,0,318,320,3,44,22,0,319,317,1,0,0,0,319,320,
        1,0,0,0,320,322,1,0,0,0,321,304,1,0,0,0,321,316,1,0,0,0,322,31,1,
        0,0,0,323,327,5,7,0,0,324,326,3,34,17,0,325,324,1,0,0,0,326,329,
        1,0,0,0,327,325,1,0,0,0,327,328,1,0,0,0,328,330,1,0,0,0,329,327,
        1,0,0,0,330,331,5,8,0,0,331,33,1,0,0,0,332,351,5,51,0,0,333,352,
        5,12,0,0,334,336,7,5,0,0,335,334,1,0,0,0,336,339,1,0,0,0,337,335,
        1,0,0,0,337,338,1,0,0,0,338,348,1,0,0,0,339,337,1,0,0,0,340,345,
        3,42,21,0,341,342,5,3,0,0,342,344,3,42,21,0,343,341,1,0,0,0,344,
        347,1,0,0,0,345,343,1,0,0,0,345,346,1,0,0,0,346,349,1,0,0,0,347,
        345,1,0,0,0,348,340,1,0,0,0,348,349,1,0,0,0,349,350,1,0,0,0,350,
        352,5,10,0,0,351,333,1,0,0,0,351,337,1,0,0,0,352,466,1,0,0,0,353,
        355,5,27,0,0,354,356,5,28,0,0,355,354,1,0,0,0,355,356,1,0,0,0,356,
        357,1,0,0,0,357,358,5,51,0,0,358,362,5,51,0,0,359,361,7,5,0,0,360,
        359,1,0,0,0,361,364,1,0,0,0,362,360,1,0,0,0,362,363,1,0,0,0,363,
        373,1,0,0,0,364,362,1,0,0,0,365,370,3,42,21,0,366,367,5,3,0,0,367,
        369,3,42,21,0,368,366,1,0,0,0,369,372,1,0,0,0,370,368,1,0,0,0,370,
        371,1,0,0,0,371,374,1,0,0,0,372,370,1,0,0,0,373,365,1,0,0,0,373,
        374,1,0,0,0,374,375,1,0,0,0,375,466,5,10,0,0,376,466,3,36,18,0,377,
        379,5,49,0,0,378,377,1,0,0,0,379,382,1,0,0,0,380,378,1,0,0,0,380,
        381,1,0,0,0,381,383,1,0,0,0,382,380,1,0,0,0,383,466,3,16,8,0,384,
        466,3,32,16,0,385,386,5,29,0,0,386,387,5,54,0,0,387,388,5,54,0,0,
        388,393,5,54,0,0,389,390,5,3,0,0,390,392,3,40,20,0,391,389,1,0,0,
        0,392,395,1,0,0,0,393,391,1,0,0,0,393,394,1,0,0,0,394,466,1,0,0,
        0,395,393,1,0,0,0,396,397,5,9,0,0,397,402,5,55,0,0,398,399,5,3,0,
        0,399,401,5,55,0,0,400,398,1,0,0,0,401,404,1,0,0,0,402,400,1,0,0,
        0,402,403,1,0,0,0,403,405,1,0,0,0,404,402,1,0,0,0,405,466,5,10,0,
        0,406,407,5,30,0,0,407,412,3,38,19,0,408,409,5,3,0,0,409,411,3,38,
        19,0,410,408,1,0,0,0,411,414,1,0,0,0,412,410,1,0,0,0,412,413,1,0,
        0,0,413,415,1,0,0,0,414,412,1,0,0,0,415,416,5,10,0,0,416,466,1,0,
        0,0,417,418,5,31,0,0,418,423,3,38,19,0,419,420,5,3,0,0,420,422,3,
        38,19,0,421,419,1,0,0,0,422,425,1,0,0,0,423,421,1,0,0,0,423,424,
        1,0,0,0,424,426,1,0,0,0,425,423,1,0,0,0,426,427,5,10,0,0,427,466,
        1,0,0,0,428,441,5,32,0,0,429,438,5,16,0,0,430,435,3,18,9,0,431,432,
        5,3,0,0,432,434,3,18,9,0,433,431,1,0,0,0,434,437,1,0,0,0,435,433,
        1,0,0,0,435,436,1,0,0,0,436,439,1,0,0,0,437,435,1,0,0,0,438,430,
        1,0,0,0,438,439,1,0,0,0,439,440,1,0,0,0,440,442,5,17,0,0,441,429,
        1,0,0,0,441,442,1,0,0,0,442,443,1,0,0,0,443,456,5,51,0,0,444,453,
        5,16,0,0,445,450,3,18,9,0,446,447,5,3,0,0,447,449,3,18,9,0,448,446,
        1,0,0,0,449,452,1,0,0,0,450,448,1,0,0,0,450,451,1,0,0,0,451,454,
        1,0,0,0,452,450,1,0,0,0,453,445,1,0,0,0,453,454,1,0,0,0,454,455,
        1,0,0,0,455,457,5,17,0,0,456,444,1,0,0,0,456,457,1,0,0,0,457,461,
        1,0,0,0,458,460,3,14,7,0,459,458,1,0,0,0,460,463,1,0,0,0,461,459,
        1,0,0,0,461,462,1,0,0,0,462,464,1,0,0,0,463,461,1,0,0,0,464,466,
        5,10,0,0,465,332,1,0,0,0,465,353,1,0,0,0,465,376,1,0,0,0,465,380,
        1,0,0,0,465,384,1,0,0,0,465,385,1,0,0,0,465,396,1,0,0,0,465,406,
        1,0,0,0,465,417,1,0,0,0,465,428,1,0,0,0,466,35,1,0,0,0,467,469,5,
        19,0,0,468,470,5,52,0,0,469,468,1,0,0,0,470,471,1,0,0,0,471,469,
        1,0,0,0,471,472,1,0,0,0,472,473,1,0,0,0,473,478,3,38,19,0,474,475,
        5,3,0,0,475,477,3,38,19,0,476,474,1,0,0,0,477,480,1,0,0,0,478,476,
        1,0,0,0,478,479,1,0,0,0,479,481,1,0,0,0,480,478,1,0,0,0,481,482,
        5,10,0,0,482,37,1,0,0,0,483,487,5,51,0,0,484,485,5,20,0,0,485,486,
        5,54,0,0,486,488,5,21,0,0,487,484,1,0,0,0,487,488,1,0,0,0,488,39,
        1,0,0,0,489,498,5,51,0,0,490,493,5,51,0,0,491,492,5,13,0,0,492,494,
        5,54,0,0,493,491,1,0,0,0,493,494,1,0,0,0,494,499,1,0,0,0,495,496,
        5,54,0,0,496,497,5,54,0,0,497,499,5,54,0,0,498,490,1,0,0,0,498,495,
        1,0,0,0,499,41,1,0,0,0,500,509,5,7,0,0,501,506,3,42,21,0,502,503,
        5,3,0,0,503,505,3,42,21,0,504,502,1,0,0,0,505,508,1,0,0,0,506,504,
        1,0,0,0,506,507,1,0,0,0,507,510,1,0,0,0,508,506,1,0,0,0,509,501,
        1,0,0,0,509,510,1,0,0,0,510,511,1,0,0,0,511,514,5,8,0,0,512,513,
        5,33,0,0,513,515,5,51,0,0,514,512,1,0,0,0,514,515,1,0,0,0,515,573,
        1,0,0,0,516,517,5,25,0,0,517,522,3,42,21,0,518,519,5,3,0,0,519,521,
        3,42,21,0,520,518,1,0,0,0,521,524,1,0,0,0,522,520,1,0,0,0,522,523,
        1,0,0,0,523,525,1,0,0,0,524,522,1,0,0,0,525,526,5,26,0,0,526,573,
        1,0,0,0,527,548,5,16,0,0,528,529,5,52,0,0,529,530,5,17,0,0,530,549,
        3,42,21,0,531,536,3,42,21,0,532,533,5,3,0,0,533,535,3,42,21,0,534,
        532,1,0,0,0,535,538,1,0,0,0,536,534,1,0,0,0,536,537,1,0,0,0,537,
        540,1,0,0,0,538,536,1,0,0,0,539,531,1,0,0,0,539,540,1,0,0,0,540,
        541,1,0,0,0,541,545,5,17,0,0,542,544,3,46,23,0,543,542,1,0,0,0,544,
        547,1,0,0,0,545,543,1,0,0,0,545,546,1,0,0,0,546,549,1,0,0,0,547,
        545,1,0,0,0,548,528,1,0,0,0,548,539,1,0,0,0,549,573,1,0,0,0,550,
        561,5,51,0,0,551,552,5,25,0,0,552,553,3,42,21,0,553,554,5,26,0,0,
        554,562,1,0,0,0,555,557,3,46,23,0,556,555,1,0,0,0,557,560,1,0,0,
        0,558,556,1,0,0,0,558,559,1,0,0,0,559,562,1,0,0,0,560,558,1,0,0,
        0,561,551,1,0,0,0,561,558,1,0,0,0,562,573,1,0,0,0,563,564,7,6,0,
        0,564,573,3,42,21,0,565,569,7,7,0,0,566,568,3,46,23,0,567,566,1,
        0,0,0,568,571,1,0,0,0,569,567,1,0,0,0,569,570,1,0,0,0,570,573,1,
        0,0,0,571,569,1,0,0,0,572,500,1,0,0,0,572,516,1,0,0,0,572,527,1,
        0,0,0,572,550,1,0,0,0,572,563,1,0,0,0,572,565,1,0,0,0,573,43,1,0,
        0,0,574,578,3,48,24,0,575,577,3,46,23,0,576,575,1,0,0,0,577,580,
        1,0,0,0,578,576,1,0,0,0,578,579,1,0,0,0,579,45,1,0,0,0,580,578,1,
        0,0,0,581,582,7,8,0,0,582,583,3,48,24,0,583,47,1,0,0,0,584,586,7,
        6,0,0,585,584,1,0,0,0,586,589,1,0,0,0,587,585,1,0,0,0,587,588,1,
        0,0,0,588,609,1,0,0,0,589,587,1,0,0,0,590,593,7,9,0,0,591,593,5,
        51,0,0,592,590,1,0,0,0,592,591,1,0,0,0,593,598,1,0,0,0,594,595,5,
        16,0,0,595,596,3,44,22,0,596,597,5,17,0,0,597,599,1,0,0,0,598,594,
        1,0,0,0,598,599,1,0,0,0,599,610,1,0,0,0,600,607,5,16,0,0,601,602,
        5,52,0,0,602,603,5,17,0,0,603,608,3,48,24,0,604,605,3,44,22,0,605,
        606,5,17,0,0,606,608,1,0,0,0,607,601,1,0,0,0,607,604,1,0,0,0,608,
        610,1,0,0,0,609,592,1,0,0,0,609,600,1,0,0,0,610,49,1,0,0,0,88,53,
        66,78,86,97,110,114,121,131,134,137,142,147,153,162,167,176,179,
        182,187,192,196,204,207,215,219,222,228,236,245,249,255,260,265,
        271,280,292,296,300,310,313,319,321,327,337,345,348,351,355,362,
        370,373,380,393,402,412,423,435,438,441,450,453,456,461,465,471,
        478,487,493,498,506,509,514,522,536,539,545,548,558,561,569,572,
        578,587,592,598,607,609
    ]

class PtxParser ( Parser ):

    grammarFileName = "Ptx.g4"

    atn = ATNDeserializer().deserialize(serializedATN())

    decisionsToDFA = [ DFA(ds, i) for i, ds in enumerate(atn.decisionToState) ]

    sharedContextCache = PredictionContextCache()

    literalNames = [ "<INVALID>", "'.version'", "'.target'", "','", "'.address_size'", 
                     "'.file'", "'.section'", "'{'", "'}'", "'.pragma'", 
                     "';'", "'.alias'", "':'", "'+'", "'-'", "'.entry'", 
                     "'('", "')'", "'.func'", "'.reg'", "'<'", "'>'", "'='", 
                     "'.align'", "'.attribute'", "'['", "']'", "'@'", "'!'", 
                     "'.loc'", "'.branchtargets'", "'.calltargets'", "'.callprototype'", 
                     "'|'", "'~'", "'*'", "'/'", "'%'", "'<<'", "'>>'", 
                     "'<='", "'>='", "'=='", "'!='", "'&'", "'^'", "'&&'", 
                     "'||'", "'?'" ]

    symbolicNames = [ "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "<INVALID>", "<INVALID>", "<INVALID>", 
                      "<INVALID>", "LINKAGE", "SPACE", "NAME", "DOTTED", 
                      "FLOAT", "INTEGER", "STRING", "DWARF", "SPACES", "LINE_COMMENT", 
                      "BLOCK_COMMENT", "LINE_MARK", "OTHER" ]

    RULE_module = 0
    RULE_item = 1
    RULE_sectionWord = 2
    RULE_linked = 3
    RULE_entry = 4
    RULE_function = 5
    RULE_marking = 6
    RULE_directive = 7
    RULE_variables = 8
    RULE_parameter = 9
    RULE_declarator = 10
    RULE_qualifier = 11
    RULE_attributes = 12
    RULE_attribute = 13
    RULE_dimension = 14
    RULE_initializer = 15
    RULE_block = 16
    RULE_statement = 17
    RULE_registers = 18
    RULE_numbered = 19
    RULE_locationWord = 20
    RULE_operand = 21
    RULE_expression = 22
    RULE_expressionTail = 23
    RULE_expressionTerm = 24

    ruleNames =  [ "module", "item", "sectionWord", "linked", "entry", "function", 
                   "marking", "directive", "variables", "parameter", "declarator", 
                   "qualifier", "attributes", "attribute", "dimension", 
                   "initializer", "block", "statement", "registers", "numbered", 
                   "locationWord", "operand", "expression", "expressionTail", 
                   "expressionTerm" ]

    EOF = Token.EOF
    T__0=1
    T__1=2
    T__2=3
    T__3=4
    T__4=5
    T__5=6
    T__6=7
    T__7=8
    T__8=9
    T__9=10
    T__10=11
    T__11=12
    T__12=13
    T__13=14
    T__14=15
    T__15=16
    T__16=17
    T__17=18
    T__18=19
    T__19=20
    T__20=21
    T__21=22
    T__22=23
    T__23=24
    T__24=25
    T__25=26
    T__26=27
    T__27=28
    T__28=29
    T__29=30
    T__30=31
    T__31=32
    T__32=33
    T__33=34
    T__34=35
    T__35=36
    T__36=37
    T__37=38
    T__38=39
    T__39=40
    T__40=41
    T__41=42
    T__42=43
    T__43=44
    T__44=45
    T__45=46
    T__46=47
    T__47=48
    LINKAGE=49
    SPACE=50
    NAME=51
    DOTTED=52
    FLOAT=53
    INTEGER=54
    STRING=55
    DWARF=56
    SPACES=57
    LINE_COMMENT=58
    BLOCK_COMMENT=59
    LINE_MARK=60
    OTHER=61

    def __init__(self, input:TokenStream, output:TextIO = sys.stdout):
        super().__init__(input, output)
        self.checkVersion("4.13.2")
        self._interp = ParserATNSimulator(self, self.atn, self.decisionsToDFA, self.sharedContextCache)
        self._predicates = None




    class ModuleContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._item = None # ItemContext
            self.items = list() # of ItemContexts

        def EOF(self):
            return self.getToken(PtxParser.EOF, 0)

        def item(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ItemContext)
            else:
                return self.getTypedRuleContext(PtxParser.ItemContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_module




    def module(self):

        localctx = PtxParser.ModuleContext(self, self._ctx, self.state)
        self.enterRule(localctx, 0, self.RULE_module)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 53
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 73746443915790966) != 0):
                self.state = 50
                localctx._item = self.item()
                localctx.items.append(localctx._item)
                self.state = 55
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 56
            self.match(PtxParser.EOF)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ItemContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_item

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VersionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.number = None # Token
            self.copyFrom(ctx)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class TargetContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class AddressSizeContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.bits = None # Token
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)


    class FileContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.index = None # Token
            self.path = None # Token
            self.stamp = None # Token
            self.size = None # Token
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)


    class SectionContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.name = None # Token
            self._sectionWord = None # SectionWordContext
            self.words = list() # of SectionWordContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def sectionWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.SectionWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.SectionWordContext,i)



    class DwarfContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.line = None # Token
            self.copyFrom(ctx)

        def DWARF(self):
            return self.getToken(PtxParser.DWARF, 0)


    class ModulePragmaContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class AliasContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._NAME = None # Token
            self.names = list() # of Tokens
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)


    class ModuleRegistersContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class SymbolContext(ItemContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.ItemContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # LinkedContext
            self.copyFrom(ctx)

        def linked(self):
            return self.getTypedRuleContext(PtxParser.LinkedContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)



    def item(self):

        localctx = PtxParser.ItemContext(self, self._ctx, self.state)
        self.enterRule(localctx, 2, self.RULE_item)
        self._la = 0 # Token type
        try:
            self.state = 114
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [1]:
                localctx = PtxParser.VersionContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 58
                self.match(PtxParser.T__0)
                self.state = 59
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 29273397577908224) != 0)):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [2]:
                localctx = PtxParser.TargetContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 60
                self.match(PtxParser.T__1)
                self.state = 61
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 66
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 62
                    self.match(PtxParser.T__2)
                    self.state = 63
                    localctx._NAME = self.match(PtxParser.NAME)
                    localctx.names.append(localctx._NAME)
                    self.state = 68
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [4]:
                localctx = PtxParser.AddressSizeContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 69
                self.match(PtxParser.T__3)
                self.state = 70
                localctx.bits = self.match(PtxParser.INTEGER)
                pass
            elif token in [5]:
                localctx = PtxParser.FileContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 71
                self.match(PtxParser.T__4)
                self.state = 72
                localctx.index = self.match(PtxParser.INTEGER)
                self.state = 73
                localctx.path = self.match(PtxParser.STRING)
                self.state = 78
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==3:
                    self.state = 74
                    self.match(PtxParser.T__2)
                    self.state = 75
                    localctx.stamp = self.match(PtxParser.INTEGER)
                    self.state = 76
                    self.match(PtxParser.T__2)
                    self.state = 77
                    localctx.size = self.match(PtxParser.INTEGER)


                pass
            elif token in [6]:
                localctx = PtxParser.SectionContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 80
                self.match(PtxParser.T__5)
                self.state = 81
                localctx.name = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==51 or _la==52):
                    localctx.name = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 82
                self.match(PtxParser.T__6)
                self.state = 86
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 69805794224271400) != 0):
                    self.state = 83
                    localctx._sectionWord = self.sectionWord()
                    localctx.words.append(localctx._sectionWord)
                    self.state = 88
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 89
                self.match(PtxParser.T__7)
                pass
            elif token in [56]:
                localctx = PtxParser.DwarfContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 90
                localctx.line = self.match(PtxParser.DWARF)
                pass
            elif token in [9]:
                localctx = PtxParser.ModulePragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 91
                self.match(PtxParser.T__8)
                self.state = 92
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 97
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 93
                    self.match(PtxParser.T__2)
                    self.state = 94
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 99
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 100
                self.match(PtxParser.T__9)
                pass
            elif token in [11]:
                localctx = PtxParser.AliasContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 101
                self.match(PtxParser.T__10)
                self.state = 102
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 103
                self.match(PtxParser.T__2)
                self.state = 104
                localctx._NAME = self.match(PtxParser.NAME)
                localctx.names.append(localctx._NAME)
                self.state = 105
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.ModuleRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 106
                localctx.of = self.registers()
                pass
            elif token in [15, 18, 24, 49, 50]:
                localctx = PtxParser.SymbolContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 110
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==49:
                    self.state = 107
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 112
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 113
                localctx.of = self.linked()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class SectionWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_sectionWord




    def sectionWord(self):

        localctx = PtxParser.SectionWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 4, self.RULE_sectionWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 116
            localctx.word = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 69805794224271400) != 0)):
                localctx.word = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LinkedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of_variables = None # VariablesContext
            self.of_entry = None # EntryContext
            self.of_function = None # FunctionContext

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)


        def entry(self):
            return self.getTypedRuleContext(PtxParser.EntryContext,0)


        def function(self):
            return self.getTypedRuleContext(PtxParser.FunctionContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_linked




    def linked(self):

        localctx = PtxParser.LinkedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 6, self.RULE_linked)
        try:
            self.state = 121
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [24, 50]:
                self.enterOuterAlt(localctx, 1)
                self.state = 118
                localctx.of_variables = self.variables()
                pass
            elif token in [15]:
                self.enterOuterAlt(localctx, 2)
                self.state = 119
                localctx.of_entry = self.entry()
                pass
            elif token in [18]:
                self.enterOuterAlt(localctx, 3)
                self.state = 120
                localctx.of_function = self.function()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class EntryContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._parameter = None # ParameterContext
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_entry




    def entry(self):

        localctx = PtxParser.EntryContext(self, self._ctx, self.state)
        self.enterRule(localctx, 8, self.RULE_entry)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 123
            self.match(PtxParser.T__14)
            self.state = 124
            localctx.name = self.match(PtxParser.NAME)
            self.state = 137
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 125
                self.match(PtxParser.T__15)
                self.state = 134
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19 or _la==50:
                    self.state = 126
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 131
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 127
                        self.match(PtxParser.T__2)
                        self.state = 128
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 133
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 136
                self.match(PtxParser.T__16)


            self.state = 142
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==52:
                self.state = 139
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 144
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 147
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 145
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 146
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class FunctionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._marking = None # MarkingContext
            self.before = list() # of MarkingContexts
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.body = None # BlockContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)


        def marking(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.MarkingContext)
            else:
                return self.getTypedRuleContext(PtxParser.MarkingContext,i)


        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)


        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_function




    def function(self):

        localctx = PtxParser.FunctionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 10, self.RULE_function)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 149
            self.match(PtxParser.T__17)
            self.state = 153
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==24 or _la==52:
                self.state = 150
                localctx._marking = self.marking()
                localctx.before.append(localctx._marking)
                self.state = 155
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 167
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 156
                self.match(PtxParser.T__15)
                self.state = 157
                localctx._parameter = self.parameter()
                localctx.results.append(localctx._parameter)
                self.state = 162
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 158
                    self.match(PtxParser.T__2)
                    self.state = 159
                    localctx._parameter = self.parameter()
                    localctx.results.append(localctx._parameter)
                    self.state = 164
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 165
                self.match(PtxParser.T__16)


            self.state = 169
            localctx.name = self.match(PtxParser.NAME)
            self.state = 182
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 170
                self.match(PtxParser.T__15)
                self.state = 179
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==19 or _la==50:
                    self.state = 171
                    localctx._parameter = self.parameter()
                    localctx.params.append(localctx._parameter)
                    self.state = 176
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 172
                        self.match(PtxParser.T__2)
                        self.state = 173
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 178
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 181
                self.match(PtxParser.T__16)


            self.state = 187
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==9 or _la==52:
                self.state = 184
                localctx._directive = self.directive()
                localctx.directives.append(localctx._directive)
                self.state = 189
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 192
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.state = 190
                localctx.body = self.block()
                pass
            elif token in [10]:
                self.state = 191
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class MarkingContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_marking




    def marking(self):

        localctx = PtxParser.MarkingContext(self, self._ctx, self.state)
        self.enterRule(localctx, 12, self.RULE_marking)
        try:
            self.state = 196
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 194
                localctx.word = self.match(PtxParser.DOTTED)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 2)
                self.state = 195
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DirectiveContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens
            self._STRING = None # Token
            self.texts = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)

        def getRuleIndex(self):
            return PtxParser.RULE_directive




    def directive(self):

        localctx = PtxParser.DirectiveContext(self, self._ctx, self.state)
        self.enterRule(localctx, 14, self.RULE_directive)
        self._la = 0 # Token type
        try:
            self.state = 219
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 198
                localctx.name = self.match(PtxParser.DOTTED)
                self.state = 207
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==54:
                    self.state = 199
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 204
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 200
                        self.match(PtxParser.T__2)
                        self.state = 201
                        localctx._INTEGER = self.match(PtxParser.INTEGER)
                        localctx.values.append(localctx._INTEGER)
                        self.state = 206
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                pass
            elif token in [9]:
                self.enterOuterAlt(localctx, 2)
                self.state = 209
                self.match(PtxParser.T__8)
                self.state = 210
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 215
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 211
                    self.match(PtxParser.T__2)
                    self.state = 212
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 217
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 218
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class VariablesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.of = None # AttributesContext
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self._declarator = None # DeclaratorContext
            self.declared = list() # of DeclaratorContexts

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def declarator(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DeclaratorContext)
            else:
                return self.getTypedRuleContext(PtxParser.DeclaratorContext,i)


        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_variables




    def variables(self):

        localctx = PtxParser.VariablesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 16, self.RULE_variables)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 222
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==24:
                self.state = 221
                localctx.of = self.attributes()


            self.state = 224
            localctx.space = self.match(PtxParser.SPACE)
            self.state = 228
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 5629499559378944) != 0):
                self.state = 225
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 230
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 231
            localctx._declarator = self.declarator()
            localctx.declared.append(localctx._declarator)
            self.state = 236
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 232
                self.match(PtxParser.T__2)
                self.state = 233
                localctx._declarator = self.declarator()
                localctx.declared.append(localctx._declarator)
                self.state = 238
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 239
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ParameterContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.space = None # Token
            self._qualifier = None # QualifierContext
            self.qualifiers = list() # of QualifierContexts
            self.of = None # DeclaratorContext

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def qualifier(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.QualifierContext)
            else:
                return self.getTypedRuleContext(PtxParser.QualifierContext,i)


        def declarator(self):
            return self.getTypedRuleContext(PtxParser.DeclaratorContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_parameter




    def parameter(self):

        localctx = PtxParser.ParameterContext(self, self._ctx, self.state)
        self.enterRule(localctx, 18, self.RULE_parameter)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 241
            localctx.space = self._input.LT(1)
            _la = self._input.LA(1)
            if not(_la==19 or _la==50):
                localctx.space = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 245
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 5629499559378944) != 0):
                self.state = 242
                localctx._qualifier = self.qualifier()
                localctx.qualifiers.append(localctx._qualifier)
                self.state = 247
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 249
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==51:
                self.state = 248
                localctx.of = self.declarator()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DeclaratorContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token
            self._dimension = None # DimensionContext
            self.dims = list() # of DimensionContexts
            self.init = None # InitializerContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def dimension(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DimensionContext)
            else:
                return self.getTypedRuleContext(PtxParser.DimensionContext,i)


        def initializer(self):
            return self.getTypedRuleContext(PtxParser.InitializerContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_declarator




    def declarator(self):

        localctx = PtxParser.DeclaratorContext(self, self._ctx, self.state)
        self.enterRule(localctx, 20, self.RULE_declarator)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 251
            localctx.name = self.match(PtxParser.NAME)
            self.state = 255
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 252
                self.match(PtxParser.T__19)
                self.state = 253
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 254
                self.match(PtxParser.T__20)


            self.state = 260
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==25:
                self.state = 257
                localctx._dimension = self.dimension()
                localctx.dims.append(localctx._dimension)
                self.state = 262
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 265
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==22:
                self.state = 263
                self.match(PtxParser.T__21)
                self.state = 264
                localctx.init = self.initializer()


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class QualifierContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.bytes_ = None # Token
            self.of = None # AttributesContext

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def SPACE(self):
            return self.getToken(PtxParser.SPACE, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def attributes(self):
            return self.getTypedRuleContext(PtxParser.AttributesContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_qualifier




    def qualifier(self):

        localctx = PtxParser.QualifierContext(self, self._ctx, self.state)
        self.enterRule(localctx, 22, self.RULE_qualifier)
        self._la = 0 # Token type
        try:
            self.state = 271
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [50, 52]:
                self.enterOuterAlt(localctx, 1)
                self.state = 267
                localctx.word = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==50 or _la==52):
                    localctx.word = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                pass
            elif token in [23]:
                self.enterOuterAlt(localctx, 2)
                self.state = 268
                self.match(PtxParser.T__22)
                self.state = 269
                localctx.bytes_ = self.match(PtxParser.INTEGER)
                pass
            elif token in [24]:
                self.enterOuterAlt(localctx, 3)
                self.state = 270
                localctx.of = self.attributes()
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributesContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._attribute = None # AttributeContext
            self.each = list() # of AttributeContexts

        def attribute(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.AttributeContext)
            else:
                return self.getTypedRuleContext(PtxParser.AttributeContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_attributes




    def attributes(self):

        localctx = PtxParser.AttributesContext(self, self._ctx, self.state)
        self.enterRule(localctx, 24, self.RULE_attributes)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 273
            self.match(PtxParser.T__23)
            self.state = 274
            self.match(PtxParser.T__15)
            self.state = 275
            localctx._attribute = self.attribute()
            localctx.each.append(localctx._attribute)
            self.state = 280
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 276
                self.match(PtxParser.T__2)
                self.state = 277
                localctx._attribute = self.attribute()
                localctx.each.append(localctx._attribute)
                self.state = 282
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 283
            self.match(PtxParser.T__16)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class AttributeContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self._INTEGER = None # Token
            self.values = list() # of Tokens

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_attribute




    def attribute(self):

        localctx = PtxParser.AttributeContext(self, self._ctx, self.state)
        self.enterRule(localctx, 26, self.RULE_attribute)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 285
            localctx.name = self.match(PtxParser.DOTTED)
            self.state = 296
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==16:
                self.state = 286
                self.match(PtxParser.T__15)
                self.state = 287
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.values.append(localctx._INTEGER)
                self.state = 292
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 288
                    self.match(PtxParser.T__2)
                    self.state = 289
                    localctx._INTEGER = self.match(PtxParser.INTEGER)
                    localctx.values.append(localctx._INTEGER)
                    self.state = 294
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 295
                self.match(PtxParser.T__16)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class DimensionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.size = None # Token

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_dimension




    def dimension(self):

        localctx = PtxParser.DimensionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 28, self.RULE_dimension)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 298
            self.match(PtxParser.T__24)
            self.state = 300
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==54:
                self.state = 299
                localctx.size = self.match(PtxParser.INTEGER)


            self.state = 302
            self.match(PtxParser.T__25)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class InitializerContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._initializer = None # InitializerContext
            self.parts = list() # of InitializerContexts
            self.of = None # ExpressionContext
            self.value_ = None # ExpressionContext

        def initializer(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.InitializerContext)
            else:
                return self.getTypedRuleContext(PtxParser.InitializerContext,i)


        def expression(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_initializer




    def initializer(self):

        localctx = PtxParser.InitializerContext(self, self._ctx, self.state)
        self.enterRule(localctx, 30, self.RULE_initializer)
        self._la = 0 # Token type
        try:
            self.state = 321
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                self.enterOuterAlt(localctx, 1)
                self.state = 304
                self.match(PtxParser.T__6)
                self.state = 313
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 65302212045267072) != 0):
                    self.state = 305
                    localctx._initializer = self.initializer()
                    localctx.parts.append(localctx._initializer)
                    self.state = 310
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 306
                        self.match(PtxParser.T__2)
                        self.state = 307
                        localctx._initializer = self.initializer()
                        localctx.parts.append(localctx._initializer)
                        self.state = 312
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 315
                self.match(PtxParser.T__7)
                pass
            elif token in [13, 14, 16, 28, 34, 51, 53, 54, 55]:
                self.enterOuterAlt(localctx, 2)
                self.state = 316
                localctx.of = self.expression()
                self.state = 319
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==22:
                    self.state = 317
                    self.match(PtxParser.T__21)
                    self.state = 318
                    localctx.value_ = self.expression()


                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class BlockContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._statement = None # StatementContext
            self.statements = list() # of StatementContexts

        def statement(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.StatementContext)
            else:
                return self.getTypedRuleContext(PtxParser.StatementContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_block




    def block(self):

        localctx = PtxParser.BlockContext(self, self._ctx, self.state)
        self.enterRule(localctx, 32, self.RULE_block)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 323
            self.match(PtxParser.T__6)
            self.state = 327
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 3940657878532736) != 0):
                self.state = 324
                localctx._statement = self.statement()
                localctx.statements.append(localctx._statement)
                self.state = 329
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 330
            self.match(PtxParser.T__7)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class StatementContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_statement

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class NamedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.name = None # Token
            self.colon = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset744 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class GuardedContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.negated = None # Token
            self.guard = None # Token
            self.name = None # Token
            self._DOTTED = None # Token
            self.words = list() # of Tokens
            self._SPACE = None # Token
            self._LINKAGE = None # Token
            self.s11 = None # Token
            self._tset803 = None # Token
            self._operand = None # OperandContext
            self.operands = list() # of OperandContexts
            self.copyFrom(ctx)

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)
        def SPACE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.SPACE)
            else:
                return self.getToken(PtxParser.SPACE, i)
        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class LocalRegistersContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of = None # RegistersContext
            self.copyFrom(ctx)

        def registers(self):
            return self.getTypedRuleContext(PtxParser.RegistersContext,0)



    class LocalContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._LINKAGE = None # Token
            self.linkage = list() # of Tokens
            self.of = None # VariablesContext
            self.copyFrom(ctx)

        def variables(self):
            return self.getTypedRuleContext(PtxParser.VariablesContext,0)

        def LINKAGE(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.LINKAGE)
            else:
                return self.getToken(PtxParser.LINKAGE, i)


    class ScopeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self.of_block = None # BlockContext
            self.copyFrom(ctx)

        def block(self):
            return self.getTypedRuleContext(PtxParser.BlockContext,0)



    class LocationContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._INTEGER = None # Token
            self.where = list() # of Tokens
            self._locationWord = None # LocationWordContext
            self.words = list() # of LocationWordContexts
            self.copyFrom(ctx)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)
        def locationWord(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.LocationWordContext)
            else:
                return self.getTypedRuleContext(PtxParser.LocationWordContext,i)



    class PragmaContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._STRING = None # Token
            self.texts = list() # of Tokens
            self.copyFrom(ctx)

        def STRING(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.STRING)
            else:
                return self.getToken(PtxParser.STRING, i)


    class BranchTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallTargetsContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts
            self.copyFrom(ctx)

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)



    class CallPrototypeContext(StatementContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.StatementContext
            super().__init__(parser)
            self._parameter = None # ParameterContext
            self.results = list() # of ParameterContexts
            self.name = None # Token
            self.params = list() # of ParameterContexts
            self._directive = None # DirectiveContext
            self.directives = list() # of DirectiveContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def directive(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.DirectiveContext)
            else:
                return self.getTypedRuleContext(PtxParser.DirectiveContext,i)

        def parameter(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ParameterContext)
            else:
                return self.getTypedRuleContext(PtxParser.ParameterContext,i)




    def statement(self):

        localctx = PtxParser.StatementContext(self, self._ctx, self.state)
        self.enterRule(localctx, 34, self.RULE_statement)
        self._la = 0 # Token type
        try:
            self.state = 465
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51]:
                localctx = PtxParser.NamedContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 332
                localctx.name = self.match(PtxParser.NAME)
                self.state = 351
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [12]:
                    self.state = 333
                    localctx.colon = self.match(PtxParser.T__11)
                    pass
                elif token in [7, 10, 11, 13, 14, 16, 25, 28, 34, 49, 50, 51, 52, 53, 54]:
                    self.state = 337
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0):
                        self.state = 334
                        localctx._tset744 = self._input.LT(1)
                        _la = self._input.LA(1)
                        if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0)):
                            localctx._tset744 = self._errHandler.recoverInline(self)
                        else:
                            self._errHandler.reportMatch(self)
                            self.consume()
                        localctx.words.append(localctx._tset744)
                        self.state = 339
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    self.state = 348
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                        self.state = 340
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 345
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 341
                            self.match(PtxParser.T__2)
                            self.state = 342
                            localctx._operand = self.operand()
                            localctx.operands.append(localctx._operand)
                            self.state = 347
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 350
                    self.match(PtxParser.T__9)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [27]:
                localctx = PtxParser.GuardedContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 353
                self.match(PtxParser.T__26)
                self.state = 355
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==28:
                    self.state = 354
                    localctx.negated = self.match(PtxParser.T__27)


                self.state = 357
                localctx.guard = self.match(PtxParser.NAME)
                self.state = 358
                localctx.name = self.match(PtxParser.NAME)
                self.state = 362
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0):
                    self.state = 359
                    localctx._tset803 = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 6192449487636480) != 0)):
                        localctx._tset803 = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    localctx.words.append(localctx._tset803)
                    self.state = 364
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 373
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                    self.state = 365
                    localctx._operand = self.operand()
                    localctx.operands.append(localctx._operand)
                    self.state = 370
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 366
                        self.match(PtxParser.T__2)
                        self.state = 367
                        localctx._operand = self.operand()
                        localctx.operands.append(localctx._operand)
                        self.state = 372
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 375
                self.match(PtxParser.T__9)
                pass
            elif token in [19]:
                localctx = PtxParser.LocalRegistersContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 376
                localctx.of = self.registers()
                pass
            elif token in [24, 49, 50]:
                localctx = PtxParser.LocalContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 380
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==49:
                    self.state = 377
                    localctx._LINKAGE = self.match(PtxParser.LINKAGE)
                    localctx.linkage.append(localctx._LINKAGE)
                    self.state = 382
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 383
                localctx.of = self.variables()
                pass
            elif token in [7]:
                localctx = PtxParser.ScopeContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 384
                localctx.of_block = self.block()
                pass
            elif token in [29]:
                localctx = PtxParser.LocationContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 385
                self.match(PtxParser.T__28)
                self.state = 386
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 387
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 388
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 393
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 389
                    self.match(PtxParser.T__2)
                    self.state = 390
                    localctx._locationWord = self.locationWord()
                    localctx.words.append(localctx._locationWord)
                    self.state = 395
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            elif token in [9]:
                localctx = PtxParser.PragmaContext(self, localctx)
                self.enterOuterAlt(localctx, 7)
                self.state = 396
                self.match(PtxParser.T__8)
                self.state = 397
                localctx._STRING = self.match(PtxParser.STRING)
                localctx.texts.append(localctx._STRING)
                self.state = 402
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 398
                    self.match(PtxParser.T__2)
                    self.state = 399
                    localctx._STRING = self.match(PtxParser.STRING)
                    localctx.texts.append(localctx._STRING)
                    self.state = 404
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 405
                self.match(PtxParser.T__9)
                pass
            elif token in [30]:
                localctx = PtxParser.BranchTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 8)
                self.state = 406
                self.match(PtxParser.T__29)
                self.state = 407
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 412
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 408
                    self.match(PtxParser.T__2)
                    self.state = 409
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 414
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 415
                self.match(PtxParser.T__9)
                pass
            elif token in [31]:
                localctx = PtxParser.CallTargetsContext(self, localctx)
                self.enterOuterAlt(localctx, 9)
                self.state = 417
                self.match(PtxParser.T__30)
                self.state = 418
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 423
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 419
                    self.match(PtxParser.T__2)
                    self.state = 420
                    localctx._numbered = self.numbered()
                    localctx.names.append(localctx._numbered)
                    self.state = 425
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 426
                self.match(PtxParser.T__9)
                pass
            elif token in [32]:
                localctx = PtxParser.CallPrototypeContext(self, localctx)
                self.enterOuterAlt(localctx, 10)
                self.state = 428
                self.match(PtxParser.T__31)
                self.state = 441
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 429
                    self.match(PtxParser.T__15)
                    self.state = 438
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==19 or _la==50:
                        self.state = 430
                        localctx._parameter = self.parameter()
                        localctx.results.append(localctx._parameter)
                        self.state = 435
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 431
                            self.match(PtxParser.T__2)
                            self.state = 432
                            localctx._parameter = self.parameter()
                            localctx.results.append(localctx._parameter)
                            self.state = 437
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 440
                    self.match(PtxParser.T__16)


                self.state = 443
                localctx.name = self.match(PtxParser.NAME)
                self.state = 456
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 444
                    self.match(PtxParser.T__15)
                    self.state = 453
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if _la==19 or _la==50:
                        self.state = 445
                        localctx._parameter = self.parameter()
                        localctx.params.append(localctx._parameter)
                        self.state = 450
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 446
                            self.match(PtxParser.T__2)
                            self.state = 447
                            localctx._parameter = self.parameter()
                            localctx.params.append(localctx._parameter)
                            self.state = 452
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 455
                    self.match(PtxParser.T__16)


                self.state = 461
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==9 or _la==52:
                    self.state = 458
                    localctx._directive = self.directive()
                    localctx.directives.append(localctx._directive)
                    self.state = 463
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 464
                self.match(PtxParser.T__9)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class RegistersContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self._DOTTED = None # Token
            self.types = list() # of Tokens
            self._numbered = None # NumberedContext
            self.names = list() # of NumberedContexts

        def numbered(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.NumberedContext)
            else:
                return self.getTypedRuleContext(PtxParser.NumberedContext,i)


        def DOTTED(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.DOTTED)
            else:
                return self.getToken(PtxParser.DOTTED, i)

        def getRuleIndex(self):
            return PtxParser.RULE_registers




    def registers(self):

        localctx = PtxParser.RegistersContext(self, self._ctx, self.state)
        self.enterRule(localctx, 36, self.RULE_registers)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 467
            self.match(PtxParser.T__18)
            self.state = 469 
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while True:
                self.state = 468
                localctx._DOTTED = self.match(PtxParser.DOTTED)
                localctx.types.append(localctx._DOTTED)
                self.state = 471 
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if not (_la==52):
                    break

            self.state = 473
            localctx._numbered = self.numbered()
            localctx.names.append(localctx._numbered)
            self.state = 478
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while _la==3:
                self.state = 474
                self.match(PtxParser.T__2)
                self.state = 475
                localctx._numbered = self.numbered()
                localctx.names.append(localctx._numbered)
                self.state = 480
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 481
            self.match(PtxParser.T__9)
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class NumberedContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.name = None # Token
            self.count = None # Token

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_numbered




    def numbered(self):

        localctx = PtxParser.NumberedContext(self, self._ctx, self.state)
        self.enterRule(localctx, 38, self.RULE_numbered)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 483
            localctx.name = self.match(PtxParser.NAME)
            self.state = 487
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            if _la==20:
                self.state = 484
                self.match(PtxParser.T__19)
                self.state = 485
                localctx.count = self.match(PtxParser.INTEGER)
                self.state = 486
                self.match(PtxParser.T__20)


        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class LocationWordContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.word = None # Token
            self.name = None # Token
            self.offset = None # Token
            self._INTEGER = None # Token
            self.where = list() # of Tokens

        def NAME(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.NAME)
            else:
                return self.getToken(PtxParser.NAME, i)

        def INTEGER(self, i:int=None):
            if i is None:
                return self.getTokens(PtxParser.INTEGER)
            else:
                return self.getToken(PtxParser.INTEGER, i)

        def getRuleIndex(self):
            return PtxParser.RULE_locationWord




    def locationWord(self):

        localctx = PtxParser.LocationWordContext(self, self._ctx, self.state)
        self.enterRule(localctx, 40, self.RULE_locationWord)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 489
            localctx.word = self.match(PtxParser.NAME)
            self.state = 498
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51]:
                self.state = 490
                localctx.name = self.match(PtxParser.NAME)
                self.state = 493
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==13:
                    self.state = 491
                    self.match(PtxParser.T__12)
                    self.state = 492
                    localctx.offset = self.match(PtxParser.INTEGER)


                pass
            elif token in [54]:
                self.state = 495
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 496
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                self.state = 497
                localctx._INTEGER = self.match(PtxParser.INTEGER)
                localctx.where.append(localctx._INTEGER)
                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class OperandContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser


        def getRuleIndex(self):
            return PtxParser.RULE_operand

     
        def copyFrom(self, ctx:ParserRuleContext):
            super().copyFrom(ctx)



    class VectorContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.other = None # Token
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)


    class AddressContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self.copyFrom(ctx)

        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)



    class TupleContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.cast = None # Token
            self.of = None # OperandContext
            self._operand = None # OperandContext
            self.parts = list() # of OperandContexts
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)
        def operand(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.OperandContext)
            else:
                return self.getTypedRuleContext(PtxParser.OperandContext,i)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SymbolicContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.first = None # Token
            self.index = None # OperandContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)
        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)

        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)



    class SignedContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.sign = None # Token
            self.of = None # OperandContext
            self.copyFrom(ctx)

        def operand(self):
            return self.getTypedRuleContext(PtxParser.OperandContext,0)



    class LiteralContext(OperandContext):

        def __init__(self, parser, ctx:ParserRuleContext): # actually a PtxParser.OperandContext
            super().__init__(parser)
            self.number = None # Token
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts
            self.copyFrom(ctx)

        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)
        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)
        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)




    def operand(self):

        localctx = PtxParser.OperandContext(self, self._ctx, self.state)
        self.enterRule(localctx, 42, self.RULE_operand)
        self._la = 0 # Token type
        try:
            self.state = 572
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [7]:
                localctx = PtxParser.VectorContext(self, localctx)
                self.enterOuterAlt(localctx, 1)
                self.state = 500
                self.match(PtxParser.T__6)
                self.state = 509
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                    self.state = 501
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 506
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while _la==3:
                        self.state = 502
                        self.match(PtxParser.T__2)
                        self.state = 503
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 508
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)



                self.state = 511
                self.match(PtxParser.T__7)
                self.state = 514
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==33:
                    self.state = 512
                    self.match(PtxParser.T__32)
                    self.state = 513
                    localctx.other = self.match(PtxParser.NAME)


                pass
            elif token in [25]:
                localctx = PtxParser.AddressContext(self, localctx)
                self.enterOuterAlt(localctx, 2)
                self.state = 516
                self.match(PtxParser.T__24)
                self.state = 517
                localctx._operand = self.operand()
                localctx.parts.append(localctx._operand)
                self.state = 522
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while _la==3:
                    self.state = 518
                    self.match(PtxParser.T__2)
                    self.state = 519
                    localctx._operand = self.operand()
                    localctx.parts.append(localctx._operand)
                    self.state = 524
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                self.state = 525
                self.match(PtxParser.T__25)
                pass
            elif token in [16]:
                localctx = PtxParser.TupleContext(self, localctx)
                self.enterOuterAlt(localctx, 3)
                self.state = 527
                self.match(PtxParser.T__15)
                self.state = 548
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [52]:
                    self.state = 528
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 529
                    self.match(PtxParser.T__16)
                    self.state = 530
                    localctx.of = self.operand()
                    pass
                elif token in [7, 13, 14, 16, 17, 25, 28, 34, 51, 53, 54]:
                    self.state = 539
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    if (((_la) & ~0x3f) == 0 and ((1 << _la) & 29273415059857536) != 0):
                        self.state = 531
                        localctx._operand = self.operand()
                        localctx.parts.append(localctx._operand)
                        self.state = 536
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)
                        while _la==3:
                            self.state = 532
                            self.match(PtxParser.T__2)
                            self.state = 533
                            localctx._operand = self.operand()
                            localctx.parts.append(localctx._operand)
                            self.state = 538
                            self._errHandler.sync(self)
                            _la = self._input.LA(1)



                    self.state = 541
                    self.match(PtxParser.T__16)
                    self.state = 545
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                        self.state = 542
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 547
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [51]:
                localctx = PtxParser.SymbolicContext(self, localctx)
                self.enterOuterAlt(localctx, 4)
                self.state = 550
                localctx.first = self.match(PtxParser.NAME)
                self.state = 561
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [25]:
                    self.state = 551
                    self.match(PtxParser.T__24)
                    self.state = 552
                    localctx.index = self.operand()
                    self.state = 553
                    self.match(PtxParser.T__25)
                    pass
                elif token in [3, 8, 10, 12, 13, 14, 17, 20, 21, 26, 33, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48]:
                    self.state = 558
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)
                    while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                        self.state = 555
                        localctx._expressionTail = self.expressionTail()
                        localctx.tail.append(localctx._expressionTail)
                        self.state = 560
                        self._errHandler.sync(self)
                        _la = self._input.LA(1)

                    pass
                else:
                    raise NoViableAltException(self)

                pass
            elif token in [13, 14, 28, 34]:
                localctx = PtxParser.SignedContext(self, localctx)
                self.enterOuterAlt(localctx, 5)
                self.state = 563
                localctx.sign = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0)):
                    localctx.sign = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 564
                localctx.of = self.operand()
                pass
            elif token in [53, 54]:
                localctx = PtxParser.LiteralContext(self, localctx)
                self.enterOuterAlt(localctx, 6)
                self.state = 565
                localctx.number = self._input.LT(1)
                _la = self._input.LA(1)
                if not(_la==53 or _la==54):
                    localctx.number = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                self.state = 569
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                    self.state = 566
                    localctx._expressionTail = self.expressionTail()
                    localctx.tail.append(localctx._expressionTail)
                    self.state = 571
                    self._errHandler.sync(self)
                    _la = self._input.LA(1)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.first = None # ExpressionTermContext
            self._expressionTail = None # ExpressionTailContext
            self.tail = list() # of ExpressionTailContexts

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expressionTail(self, i:int=None):
            if i is None:
                return self.getTypedRuleContexts(PtxParser.ExpressionTailContext)
            else:
                return self.getTypedRuleContext(PtxParser.ExpressionTailContext,i)


        def getRuleIndex(self):
            return PtxParser.RULE_expression




    def expression(self):

        localctx = PtxParser.ExpressionContext(self, self._ctx, self.state)
        self.enterRule(localctx, 44, self.RULE_expression)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 574
            localctx.first = self.expressionTerm()
            self.state = 578
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0):
                self.state = 575
                localctx._expressionTail = self.expressionTail()
                localctx.tail.append(localctx._expressionTail)
                self.state = 580
                self._errHandler.sync(self)
                _la = self._input.LA(1)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTailContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.operator = None # Token
            self.of = None # ExpressionTermContext

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def getRuleIndex(self):
            return PtxParser.RULE_expressionTail




    def expressionTail(self):

        localctx = PtxParser.ExpressionTailContext(self, self._ctx, self.state)
        self.enterRule(localctx, 46, self.RULE_expressionTail)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 581
            localctx.operator = self._input.LT(1)
            _la = self._input.LA(1)
            if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 562924186791936) != 0)):
                localctx.operator = self._errHandler.recoverInline(self)
            else:
                self._errHandler.reportMatch(self)
                self.consume()
            self.state = 582
            localctx.of = self.expressionTerm()
        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx


    class ExpressionTermContext(Rule):
        __slots__ = 'parser'

        def __init__(self, parser, parent:ParserRuleContext=None, invokingState:int=-1):
            super().__init__(parent, invokingState)
            self.parser = parser
            self.s14 = None # Token
            self.signs = list() # of Tokens
            self.s13 = None # Token
            self.s34 = None # Token
            self.s28 = None # Token
            self._tset1426 = None # Token
            self.of = None # Token
            self.name = None # Token
            self.inner = None # ExpressionContext
            self.cast = None # Token
            self.casted = None # ExpressionTermContext
            self.nested = None # ExpressionContext

        def NAME(self):
            return self.getToken(PtxParser.NAME, 0)

        def DOTTED(self):
            return self.getToken(PtxParser.DOTTED, 0)

        def expressionTerm(self):
            return self.getTypedRuleContext(PtxParser.ExpressionTermContext,0)


        def expression(self):
            return self.getTypedRuleContext(PtxParser.ExpressionContext,0)


        def INTEGER(self):
            return self.getToken(PtxParser.INTEGER, 0)

        def FLOAT(self):
            return self.getToken(PtxParser.FLOAT, 0)

        def STRING(self):
            return self.getToken(PtxParser.STRING, 0)

        def getRuleIndex(self):
            return PtxParser.RULE_expressionTerm




    def expressionTerm(self):

        localctx = PtxParser.ExpressionTermContext(self, self._ctx, self.state)
        self.enterRule(localctx, 48, self.RULE_expressionTerm)
        self._la = 0 # Token type
        try:
            self.enterOuterAlt(localctx, 1)
            self.state = 587
            self._errHandler.sync(self)
            _la = self._input.LA(1)
            while (((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0):
                self.state = 584
                localctx._tset1426 = self._input.LT(1)
                _la = self._input.LA(1)
                if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 17448329216) != 0)):
                    localctx._tset1426 = self._errHandler.recoverInline(self)
                else:
                    self._errHandler.reportMatch(self)
                    self.consume()
                localctx.signs.append(localctx._tset1426)
                self.state = 589
                self._errHandler.sync(self)
                _la = self._input.LA(1)

            self.state = 609
            self._errHandler.sync(self)
            token = self._input.LA(1)
            if token in [51, 53, 54, 55]:
                self.state = 592
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [53, 54, 55]:
                    self.state = 590
                    localctx.of = self._input.LT(1)
                    _la = self._input.LA(1)
                    if not((((_la) & ~0x3f) == 0 and ((1 << _la) & 63050394783186944) != 0)):
                        localctx.of = self._errHandler.recoverInline(self)
                    else:
                        self._errHandler.reportMatch(self)
                        self.consume()
                    pass
                elif token in [51]:
                    self.state = 591
                    localctx.name = self.match(PtxParser.NAME)
                    pass
                else:
                    raise NoViableAltException(self)

                self.state = 598
                self._errHandler.sync(self)
                _la = self._input.LA(1)
                if _la==16:
                    self.state = 594
                    self.match(PtxParser.T__15)
                    self.state = 595
                    localctx.inner = self.expression()
                    self.state = 596
                    self.match(PtxParser.T__16)


                pass
            elif token in [16]:
                self.state = 600
                self.match(PtxParser.T__15)
                self.state = 607
                self._errHandler.sync(self)
                token = self._input.LA(1)
                if token in [52]:
                    self.state = 601
                    localctx.cast = self.match(PtxParser.DOTTED)
                    self.state = 602
                    self.match(PtxParser.T__16)
                    self.state = 603
                    localctx.casted = self.expressionTerm()
                    pass
                elif token in [13, 14, 16, 28, 34, 51, 53, 54, 55]:
                    self.state = 604
                    localctx.nested = self.expression()
                    self.state = 605
                    self.match(PtxParser.T__16)
                    pass
                else:
                    raise NoViableAltException(self)

                pass
            else:
                raise NoViableAltException(self)

        except RecognitionException as re:
            localctx.exception = re
            self._errHandler.reportError(self, re)
            self._errHandler.recover(self, re)
        finally:
            self.exitRule()
        return localctx





